// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"reflect"
	"testing"
)

func TestSetValues(t *testing.T) {
	both := Effective{Default: "dc1", Allowed: Allowed{Restricted: true, Names: []string{"dc1", "dc2"}}}
	nothing := Effective{Allowed: Allowed{Restricted: true}}
	const lines = "  defaultAffinityClass: \"dc1\"\n  allowedAffinityClasses: [\"dc1\",\"dc2\"]\n"
	cases := []struct {
		reason    string
		text      string
		effective Effective
		want      string
	}{
		{"affinity-class A6: a Secret without content", "", both, "_namespace:\n" + lines},
		{"affinity-class A38: only the two keys are added",
			"# kept\n_cluster:   {a: b}  # kept\n\n_namespace:\n  host: x.io   # kept\n  etcd: \"tenant-root\"\nlast: [1,\n  2]\n", both,
			"# kept\n_cluster:   {a: b}  # kept\n\n_namespace:\n" + lines + "  host: x.io   # kept\n  etcd: \"tenant-root\"\nlast: [1,\n  2]\n"},
		{"affinity-class A38: edited keys are put back",
			"_namespace:\n    allowedAffinityClasses:\n    - gpu\n    - dc1\n    host: x\n    defaultAffinityClass: gpu\n_cluster: {}\n", both,
			"_namespace:\n    defaultAffinityClass: \"dc1\"\n    allowedAffinityClasses: [\"dc1\",\"dc2\"]\n    host: x\n_cluster: {}\n"},
		{"affinity-class 1.1: nothing is written when the two are right",
			"_namespace: {defaultAffinityClass: dc1,   allowedAffinityClasses: [dc1, 'dc2']}", both,
			"_namespace: {defaultAffinityClass: dc1,   allowedAffinityClasses: [dc1, 'dc2']}"},
		{"affinity-class A7: a default that is none is an absent key", "_namespace:\n  defaultAffinityClass: dc1\n  a: b\n",
			Effective{Allowed: Allowed{Restricted: true, Names: []string{"dc2"}}}, "_namespace:\n  allowedAffinityClasses: [\"dc2\"]\n  a: b\n"},
		{"affinity-class A36: a list that allows nothing is []", "_namespace:\n  a: b\n", nothing,
			"_namespace:\n  allowedAffinityClasses: []\n  a: b\n"},
		{"affinity-class 1.2: an unrestricted list is an absent key", "_namespace:\n  allowedAffinityClasses: []\n", Effective{},
			"_namespace: {}\n"},
		{"affinity-class 1.2: nothing is set where nothing has to be", "a: b\n", Effective{}, "a: b\n"},
		{"affinity-class 1.1: another key without a line end", "_cluster: {}", both, "_cluster: {}\n_namespace:\n" + lines},
		{"affinity-class 1.1: a text of several lines is written anew",
			"_namespace:\n  defaultAffinityClass: |\n    gpu\n    x\n  a: b\n", Effective{Default: "dc1"},
			"_namespace:\n  a: b\n  defaultAffinityClass: dc1\n"},
		{"affinity-class 1.1: flow style is written anew", "{_namespace: {a: b}, _cluster: {c: \"1\"}} # kept\n", Effective{Default: "dc1"},
			"{_namespace: {a: b, defaultAffinityClass: dc1}, _cluster: {c: \"1\"}} # kept\n"},
		{"affinity-class 1.1: a class that YAML would not take for a string", "_namespace:\n  a: b\n", Effective{Default: "1e3"},
			"_namespace:\n  defaultAffinityClass: \"1e3\"\n  a: b\n"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, err := SetValues(c.text, c.effective)
			if err != nil || got != c.want {
				t.Fatalf("SetValues() = %q, %v, want %q", got, err, c.want)
			}
			if again, err := SetValues(got, c.effective); err != nil || again != got {
				t.Errorf("the second time: %q, %v, want the same", again, err)
			}
		})
	}
}

func TestUnparsableValues(t *testing.T) {
	for reason, text := range map[string]string{
		"affinity-class A38: no YAML":                        "a: [",
		"affinity-class A38: no mapping":                     "- a\n",
		"affinity-class A38: a text":                         "hello",
		"affinity-class A38: _namespace is no mapping":       "_namespace: x\n",
		"affinity-class A38: _namespace is null":             "_namespace:\n_cluster: {}\n",
		"affinity-class A38: a key twice":                    "a: b\na: c\n",
		"affinity-class A38: two documents":                  "a: b\n---\nc: d\n",
		"affinity-class A38: keys that are no strings":       "1: b\n",
		"affinity-class A38: _namespace is shared by anchor": "x: &n {a: b}\n_namespace: *n\n",
	} {
		t.Run(reason, func(t *testing.T) {
			if got, err := SetValues(text, Effective{Default: "dc1"}); !errors.Is(err, ErrUnparsable) || got != "" {
				t.Errorf("SetValues(%q) = %q, %v, want ErrUnparsable", text, got, err)
			}
		})
	}
}

// FuzzSetValues checks that only the two keys change, that the result has them, and that setting them again changes nothing.
func FuzzSetValues(f *testing.F) {
	for _, text := range []string{
		"", "a: b\n", "_namespace:\n  a: b\n", "_namespace: {a: b}\n", "---\n_namespace:\n  defaultAffinityClass: |-\n    x\n...\n",
		"  _namespace:\n    a: &x b\n  c: *x", "? _namespace\n: a: b\n", "_namespace: # c\n  # d\n  allowedAffinityClasses:\n  - a # b\n  # e\n",
		"a: b\r\n",
	} {
		f.Add(text, "dc1", true, "dc2")
	}
	f.Fuzz(func(t *testing.T, text, class string, restricted bool, name string) {
		effective := Effective{Default: class}
		if restricted {
			effective.Allowed = Allowed{Restricted: true, Names: []string{name}}
		}
		got, err := SetValues(text, effective)
		if err != nil {
			return
		}
		before, err := parseValues(text)
		if err != nil {
			t.Fatal(err)
		}
		after, err := parseValues(got)
		if err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if !reflect.DeepEqual(withoutKeys(before), withoutKeys(after)) {
			t.Errorf("%q became %q", text, got)
		}
		if again, err := SetValues(got, effective); err != nil || again != got {
			t.Errorf("the second time: %q, %v, want %q", again, err, got)
		}
	})
}

// withoutKeys removes the two keys, and _namespace if it is empty then.
func withoutKeys(values map[string]any) map[string]any {
	namespace, isMapping := values[namespaceKey].(map[string]any)
	delete(namespace, defaultKey)
	delete(namespace, allowedKey)
	if isMapping && len(namespace) == 0 {
		delete(values, namespaceKey)
	}
	return values
}
