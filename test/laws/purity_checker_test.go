package laws

import (
	"testing"
	"testing/fstest"
)

func TestPurityCheckerFindsImpureFiles(t *testing.T) {
	g := graph{
		"example.com/fetch":                 {"example.com/transport"},
		"example.com/transport":             {"k8s.io/client-go/rest"},
		"sigs.k8s.io/controller-runtime":    nil,
		"k8s.io/apimachinery/pkg/api/equal": {"k8s.io/klog/v2"},
	}
	cases := []struct {
		reason string
		file   string
		source string
		want   []string
	}{
		{
			reason: "durations, times given and indirect klog are pure",
			file:   "pkg/clusterinfo/a.go",
			source: `import ("time"; "k8s.io/apimachinery/pkg/api/equal")
var wake = func(now time.Time) time.Time { return equal.Now().Add(time.Minute) }`,
		},
		{
			reason: "rooms outside the core may do as they like",
			file:   "pkg/controller/a.go",
			source: `import ("os"; "time"); var now, args = time.Now, os.Args`,
		},
		{
			reason: "the writing half of decision is not pure",
			file:   "pkg/decision/writer_apply.go",
			source: `import ("sigs.k8s.io/controller-runtime"; "k8s.io/klog/v2"); var a, b = controllerruntime.Log, klog.Info`,
		},
		{
			reason: "tests of the core may read what they like",
			file:   "pkg/clusterinfo/a_test.go",
			source: `import "os"; var args = os.Args`,
		},
		{
			reason: "a direct import, below a forbidden package and under another name",
			file:   "pkg/selector/cel/a.go",
			source: `import (log "k8s.io/klog/v2"; "os/exec"; "math/rand/v2"; "net/http")
var a, b, c, d = log.Info, exec.Command, rand.Int, http.Get`,
			want: []string{
				"pkg/selector/cel/a.go: the core may not import k8s.io/klog/v2",
				"pkg/selector/cel/a.go: the core may not import os/exec",
				"pkg/selector/cel/a.go: the core may not import math/rand/v2",
				"pkg/selector/cel/a.go: the core may not import net/http",
			},
		},
		{
			reason: "a client that arrives through others",
			file:   "pkg/inventory/a.go",
			source: `import "example.com/fetch"; var get = fetch.Get`,
			want: []string{"pkg/inventory/a.go: the core may not depend on k8s.io/client-go/rest: " +
				"example.com/fetch -> example.com/transport -> k8s.io/client-go/rest"},
		},
		{
			reason: "the planning half of decision is of the core",
			file:   "pkg/decision/plan.go",
			source: `import "sigs.k8s.io/controller-runtime"; var log = controllerruntime.Log`,
			want: []string{"pkg/decision/plan.go: the core may not depend on sigs.k8s.io/controller-runtime: " +
				"sigs.k8s.io/controller-runtime"},
		},
		{
			reason: "a clock, called, handed on, renamed or hidden",
			file:   "pkg/scheduling/a.go",
			source: `import ("time"; clock "time"; metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"; . "time")
var a, b, c, d = time.Now(), clock.Since, metav1.Now(), Now()`,
			want: []string{
				"pkg/scheduling/a.go: the core may not use time.Now; take the time as an argument",
				"pkg/scheduling/a.go: the core may not use clock.Since; take the time as an argument",
				"pkg/scheduling/a.go: the core may not use metav1.Now; take the time as an argument",
				"pkg/scheduling/a.go: the core may not dot-import time, which hides its clock",
			},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			repository := fstest.MapFS{c.file: {Data: []byte("package a\n\n" + c.source + "\n")}}
			expectFindings(t, checkPurity(t, repository, g), c.want)
		})
	}
}
