// The program whose branches `consumers.sh` puts into captures.

__attribute__((noinline)) static long hot(long n)
{
    long sum = 0;
    do {
        sum += n;
    } while (--n);
    return sum;
}

int main(void)
{
    return (int)hot(15);
}
