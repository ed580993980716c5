// The program of the fixtures: methods, inlined calls, a generic function and a closure.
package main

import (
	"os"
	"strconv"
)

type shape interface{ area() int }
type square struct{ side int }

func (s *square) area() int { return scale(s.side, s.side) }

func scale(a, b int) int { return mix(a)*31 + b }
func mix(x int) int      { return x ^ x>>7 }

func sum[T any](in []T, of func(T) int) int {
	all := 0
	for _, it := range in {
		all += of(it)
	}
	return all
}

func work(n int) int {
	all := 0
	for i := 0; i < n; i++ {
		all += scale(i, n)
	}
	return all
}

func main() {
	shapes := []shape{&square{len(os.Args)}, &square{2}}
	all := sum(shapes, func(it shape) int { return it.area() + work(len(os.Args)) })
	println(strconv.Itoa(all))
}
