volatile int sum;
__attribute__((noinline)) int hot(int count) {
    for (int i = 0; i < count; i++) {
        sum += i;
    }
    return sum;
}
int main(void) {
    for (int i = 0; i < 1000; i++) {
        hot(15);
    }
    return 0;
}
