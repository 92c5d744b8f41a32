// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

func TestPercentile(t *testing.T) {
	samples := []time.Duration{5, 1, 4, 2, 3}
	for _, tc := range []struct {
		reason  string
		samples []time.Duration
		p       float64
		want    time.Duration
	}{
		{"the middle", samples, 50, 3},
		{"near the top of few samples: the greatest", samples, 99, 5},
		{"none is below", samples, 0, 1},
		{"all are", samples, 100, 5},
		{"exactly at a sample", samples, 40, 2},
		{"just above it", samples, 41, 3},
		{"nothing was measured", nil, 50, 0},
	} {
		if got := Percentile(tc.samples, tc.p); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
	if diff := cmp.Diff([]time.Duration{5, 1, 4, 2, 3}, samples); diff != "" {
		t.Errorf("the samples are out of order now:\n%s", diff)
	}
}

// grown is a figure at three sizes that grows with a power of the size.
func grown(power float64) []Run {
	var runs []Run
	for _, size := range fleet.Sizes()[:3] {
		run := Run{Size: size}
		run.Add("event", "cpu", Seconds, 0.001*math.Pow(float64(size.Clusters)*float64(size.Placements), power/2))
		runs = append(runs, run)
	}
	return runs
}

func TestExponents(t *testing.T) {
	for _, power := range []float64{0, 0.1, 1, 2} {
		got := Exponents(grown(power), "event/cpu", "event/unknown")
		if len(got) != 1 || math.Abs(got[0].Value-power) > 1e-9 {
			t.Errorf("a cost that grows with the power of %v: %v", power, got)
		}
	}
	if got := Exponents(grown(1)[:1], "event/cpu"); got != nil {
		t.Errorf("one size says nothing about growth: %v", got)
	}
	free := grown(1)
	free[1].Add("event", "cpu", Seconds, 0)
	got := Exponents(free, "event/cpu")
	if diff := cmp.Diff([]Exponent{{Figure: "event/cpu", From: free[0].Size, To: free[2].Size, Value: 1}}, got, approximately()); diff != "" {
		t.Errorf("a value of 0 has no logarithm (-want +got):\n%s", diff)
	}
}

func approximately() cmp.Option {
	return cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
}

func TestUnitsReadWell(t *testing.T) {
	for _, tc := range []struct {
		unit  Unit
		value float64
		want  string
	}{
		{Seconds, 40.04, "40.0 s"},
		{Seconds, 1.234, "1.23 s"},
		{Seconds, 0.15, "150 ms"},
		{Seconds, 0.0025, "2.5 ms"},
		{Seconds, 0.0000425, "42 µs"},
		{Bytes, 560 << 20, "560 MiB"},
		{Count, 400, "400"},
		{Count, 15.66, "15.7"},
		{Ratio, 0.815, "0.81"},
	} {
		if got := tc.unit.Text(tc.value); got != tc.want {
			t.Errorf("%v %q: %s, want %s", tc.value, tc.unit, got, tc.want)
		}
	}
}

// sample is a small report with everything in it.
func sample() *Report {
	small, large := Run{Size: fleet.Sizes()[0]}, Run{Size: fleet.Sizes()[1]}
	small.Add("cold-start", "seconds", Seconds, 2)
	small.Add("floor", "seconds", Seconds, 1)
	large.Add("cold-start", "seconds", Seconds, 10)
	large.Add("restart", "writes", Count, 0)
	large.Add("floor", "seconds", Seconds, 9)
	large.Add("cold-start", "writes", Count, 12)
	r := &Report{Machine: Machine{System: "linux/amd64", CPUs: 2, Go: "go1.26"}, Runs: []Run{small, large}}
	r.Exponents = Exponents(r.Runs, "cold-start/seconds")
	return r
}

func TestTable(t *testing.T) {
	r := sample()
	r.Missing = []string{"the phase of the moon"}
	most, least := 0.0, 0.8
	r.Targets = r.Judge([]Target{
		{Name: "floor", Figure: "floor/seconds", Over: "cold-start/seconds", AtLeast: &least},
		{Name: "silence", Figure: "restart/writes", AtMost: &most},
		{Name: "elsewhere", Figure: "restart/writes", AtMost: &most, Sizes: []string{"1x1"}},
		{Name: "over nothing", Figure: "floor/seconds", Over: "restart/writes", AtMost: &most},
		{Name: "growth", Exponent: "cold-start/seconds", AtMost: &most},
	})
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `linux/amd64, 2 CPUs, go1.26

Not measured: the phase of the moon

scenario    figure   100x100  1000x500
cold-start  seconds  2.00 s   10.0 s
            writes   -        12
floor       seconds  1.00 s   9.00 s
restart     writes   -        0

cold-start/seconds grows with the size to the power of 0.82, from 100x100 to 1000x500

missed  floor at 100x100: 0.5, must be at least 0.8
met     floor at 1000x500: 0.9, must be at least 0.8
met     silence at 1000x500: 0, must be at most 0
missed  growth: 0.8228, must be at most 0
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAdmissionHasATableOfItsOwn(t *testing.T) {
	most := 1.3
	admission := &Run{}
	admission.Add("admission", "p99", Seconds, 0.006)
	admission.Add("admission", "floor-p99", Seconds, 0.005)
	alone := &Report{Machine: Machine{System: "linux/amd64", CPUs: 2, Go: "go1.26"}, Admission: admission}
	target := Target{Name: "p99 over the floor's", Figure: "admission/p99", Over: "admission/floor-p99", AtMost: &most}
	alone.Targets = alone.Judge([]Target{target})
	var text strings.Builder
	if err := alone.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const want = `linux/amd64, 2 CPUs, go1.26

scenario   figure     value
admission  p99        6.0 ms
admission  floor-p99  5.0 ms


met     p99 over the floor's: 1.2, must be at most 1.3
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	both := sample()
	both.Admission = admission
	if page := both.Markdown(); !strings.Contains(page, "| restart | writes | - | 0 |\n\n| scenario | figure | value |\n| --- | --- | --- |\n") {
		t.Errorf("the tables are not apart:\n%s", page)
	}
}

func TestTargetsAreInOrder(t *testing.T) {
	list, err := Targets()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatal("there are no targets")
	}
	known := map[string]bool{}
	for _, size := range fleet.Sizes() {
		known[size.String()] = true
	}
	for _, target := range list {
		for _, size := range target.Sizes {
			if !known[size] {
				t.Errorf("target %q is for size %s, which is none of those that are measured", target.Name, size)
			}
		}
	}
}

func TestChartIsWellFormed(t *testing.T) {
	chart := sample().SVG()
	decoder := xml.NewDecoder(strings.NewReader(chart))
	bars := 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, chart)
		}
		if text, ok := token.(xml.CharData); ok && strings.HasSuffix(string(text), " s") {
			bars++
		}
	}
	if bars != 4 {
		t.Errorf("%d values are drawn, want the cold starts and floors of two sizes:\n%s", bars, chart)
	}
	if strings.Contains(chart, "NaN") || strings.Contains(chart, "-92233") {
		t.Errorf("something is drawn nowhere:\n%s", chart)
	}
}

func TestReportsOfSeveralRunsAreOne(t *testing.T) {
	directory := t.TempDir()
	write := func(name string, runs ...Run) string {
		path := filepath.Join(directory, name)
		if err := (&Report{Machine: Machine{CPUs: 2}, Runs: runs}).WriteJSON(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	measured := func(size int, seconds float64) Run {
		run := Run{Size: fleet.Sizes()[size]}
		run.Add("cold-start", "seconds", Seconds, seconds)
		return run
	}
	admission := &Run{}
	admission.Add("admission", "p99", Seconds, 1)
	reviews := filepath.Join(directory, "admission")
	if err := (&Report{Machine: Machine{CPUs: 2}, Admission: admission}).WriteJSON(reviews); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(reviews, write("large", measured(5, 90), measured(1, 9)), write("small", measured(0, 1), measured(1, 8)))
	if err != nil {
		t.Fatal(err)
	}
	want := &Report{
		Machine: Machine{CPUs: 2}, Runs: []Run{measured(0, 1), measured(1, 8), measured(5, 90)}, Admission: admission,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDocsAreWrittenAroundTheTable(t *testing.T) {
	directory := t.TempDir()
	page := filepath.Join(directory, "benchmark.md")
	if err := os.WriteFile(page, []byte("before\n"+tableBegin+"\nold\n"+tableEnd+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sample()
	for range 2 { // The second time over what the first has written.
		if err := r.WriteDocs(directory); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + tableBegin + "\n\n" + r.Markdown() + "\n" + tableEnd + "\nafter\n"; string(content) != want {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, string(content)))
	}
	if !strings.Contains(r.Markdown(), "| cold-start | seconds | 2.00 s | 10.0 s |") {
		t.Errorf("the table lacks a row:\n%s", r.Markdown())
	}
	data, err := os.ReadFile(filepath.Join(directory, "benchmark.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := &Report{}
	if err := json.Unmarshal(data, read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, read); diff != "" {
		t.Errorf("the JSON says something else (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(page, []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteDocs(directory); err == nil || !strings.Contains(err.Error(), "around the table") {
		t.Errorf("a page without a place for the table: %v", err)
	}
}
