// Numbers and texts in the elements of a page.

// Takes the text of an element, which is not needed twice.
function take(id) {
    const element = document.getElementById(id);
    element.remove();
    return element.textContent;
}

// Numbers in LEB128, in base64. Periods may have 64 bits; above 53 bits they are rounded, which no picture shows. The
// exact sums are in the text.
class Numbers {
    constructor(text) {
        const binary = atob(text);
        this.bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; i++) this.bytes[i] = binary.charCodeAt(i);
        this.at = 0;
    }

    next() {
        const first = this.bytes[this.at++];
        if (first < 128) return first;
        let number = first & 127;
        let scale = 128;
        for (;;) {
            const byte = this.bytes[this.at++];
            number += (byte & 127) * scale;
            if (byte < 128) return number;
            scale *= 128;
        }
    }
}
