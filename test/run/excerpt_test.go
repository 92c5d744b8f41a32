// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestExcerptIsBounded(t *testing.T) {
	numbered := func(from, to int) string {
		var text strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&text, "line %d\n", i)
		}
		return text.String()
	}
	cases := []struct{ reason, output, want string }{
		{"a short output", "=== RUN   TestA\n" + numbered(1, 3), numbered(1, 3)},
		{"a long output", numbered(1, 100), "... (60 lines)\n" + numbered(61, 100)},
		{
			"an output with a failure in the middle",
			numbered(1, 50) + "• [FAILED] [3.1 seconds]\n" + numbered(51, 300),
			"• [FAILED] [3.1 seconds]\n" + numbered(51, 109) + "... (151 lines)\n" + numbered(261, 300),
		},
		{
			"a long message of t.Fatal after others",
			"    a_test.go:7: begins\n" + numbered(1, 80) + "    a_test.go:9: it failed\n" + numbered(81, 200) + "--- FAIL: TestA\n",
			"    a_test.go:9: it failed\n" + numbered(81, 139) + "... (22 lines)\n" + numbered(162, 200) + "--- FAIL: TestA\n",
		},
		{
			"short messages",
			"line 0\n    a_test.go:7: one\n    a_test.go:8: two\n--- FAIL: TestA\n",
			"line 0\n    a_test.go:7: one\n    a_test.go:8: two\n--- FAIL: TestA\n",
		},
		{
			"the log of a program below a message",
			"    a_test.go:7: it ended with:\n        I1126 18:56:06.822746    5191 setup.go:255] \"Ready\"\n" +
				"        E1126 18:56:06.823577    5191 a.go:1] \"Refused\"\n",
			"    a_test.go:7: it ended with:\n        E1126 18:56:06.823577    5191 a.go:1] \"Refused\"\n",
		},
		{"a long line", strings.Repeat("x", 600) + "\n", strings.Repeat("x", 500) + " ...\n"},
	}
	for _, c := range cases {
		var e excerpt
		for line := range strings.Lines(c.output) {
			e.add(line)
		}
		if got := e.String(); got != c.want {
			t.Errorf("%s: got:\n%swant:\n%s", c.reason, got, c.want)
		}
	}
}

func TestReportQuotesFewTests(t *testing.T) {
	r := &result{directory: "test/integration/a", tests: map[string]*excerpt{}}
	for _, name := range []string{"TestA/x", "TestA", "TestB", "TestC", "TestD"} {
		r.failed = append(r.failed, name)
		r.tests[name] = &excerpt{}
		r.tests[name].add("output of " + name + "\n")
	}
	got := r.report("bin/test-logs/test/integration/a.log", true)
	want(t, got, "  TestA/x:\n    output of TestA/x\n", "  TestB:\n", "  TestC:\n", "  and 1 more failed tests\n",
		"alone:        CGO_ENABLED=0 GOFLAGS=-trimpath go test ./test/integration/a -count=1 -v\n", "-ginkgo.focus 'words of their names'")
	if strings.Contains(got, "  TestA:\n") || strings.Contains(got, "TestD:") {
		t.Errorf("too many tests are quoted:\n%s", got)
	}
}
