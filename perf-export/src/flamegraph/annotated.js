// Annotated functions, which the panel shows for the frames of a flame graph.

const INLINED_KIND = 2;
const panel = new AnnotationPanel(readAnnotations());
// By function.
const annotated = new Map();
panel.functions.forEach(({ frames }, index) => frames.forEach((fn) => annotated.has(fn) || annotated.set(fn, index)));

// An inlined function is in the code of the next caller that is not. From the leaf on, a frame has many callers.
function annotationOf(frame) {
    let at = frame;
    while (at > 0 && !state.fromLeaf && kindOf(at) === INLINED_KIND) at = tree.above[at];
    return annotated.get(tree.fn[at]);
}

// Until it is closed, the panel follows the frames that are zoomed to.
let isFollowing = true;
function showAnnotation(frame) {
    const index = annotationOf(frame);
    if (index === undefined) return;
    isFollowing = true;
    panel.open(index, -1, meta.events[state.event].name);
}

more = {
    links(frame) {
        if (annotationOf(frame) === undefined) return [];
        const button = make('button', 'Source and instructions (a)', 'annotation-link');
        button.type = 'button';
        button.onclick = () => {
            showAnnotation(frame);
            $('annotation-grid').focus();
        };
        return [button];
    },
    open(frame) {
        if (isFollowing) showAnnotation(frame);
    },
};

$('annotation-close').hidden = false;
panel.onOpen = (index) => {
    if (index >= 0) return;
    isFollowing = false;
    $('graph').focus();
};
document.addEventListener('keydown', (event) => {
    if (event.key !== 'a' || event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT'].includes(event.target.tagName)) return;
    if (annotationOf(chosen >= 0 ? chosen : focus) === undefined) return;
    event.preventDefault();
    showAnnotation(chosen >= 0 ? chosen : focus);
    $('annotation-grid').focus();
});
