// The program that `fold.sh` records: functions with names, some of them inlined.

static volatile unsigned long total;

static inline __attribute__((always_inline)) unsigned long innermost(unsigned long n)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 1000; i++) {
        sum += (i ^ n) * 3;
        total = sum;
    }
    return sum;
}

static inline __attribute__((always_inline)) unsigned long middle(unsigned long n)
{
    return innermost(n) + innermost(n + 1);
}

__attribute__((noinline)) static unsigned long outer(unsigned long n)
{
    return middle(n) + 1;
}

__attribute__((noinline)) static unsigned long caller(unsigned long n)
{
    return outer(n) * 2;
}

int main(void)
{
    unsigned long sum = 0;
    for (unsigned long n = 0; n < 100000; n++)
        sum += caller(n);
    return (int)(sum & 1);
}
