// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// BenchmarkCELFleet evaluates usual expressions on 10,000 clusters.
func BenchmarkCELFleet(b *testing.B) {
	const clusters = 10_000

	fleet := make([]*clusterinfo.ClusterInfo, 0, clusters)
	for n := range clusters {
		fleet = append(fleet, clusterinfo.New(&clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("c%d", n), Labels: map[string]string{"region": []string{"eu", "us"}[n%2], "version": "1.30.4", "zone": "a"},
			},
			Status: clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{
				{Name: "id.k8s.io", Value: fmt.Sprintf("c%d", n)}, {Name: "platform", Value: "AWS"}, {Name: "arn", Value: "arn:aws:eks:eu-west-1"},
			}},
		}, map[string]clusterinfo.ScoreSet{"demo": {Names: []string{"cpu", "mem"}, Values: map[string]int32{"cpu": 90, "mem": -3}}}))
	}

	for _, tc := range []struct{ name, expression string }{
		{"label", `managedCluster.metadata.labels["region"] == "eu"`},
		{"labels", `managedCluster.metadata.labels["region"] == "eu" && managedCluster.metadata.labels["zone"] in ["a", "b"]`},
		{"semver", `semver(managedCluster.metadata.labels["version"]).isGreaterThan(semver("1.29.0"))`},
		{"claims", `managedCluster.status.clusterClaims.exists(c, c.name == "arn" && c.value.startsWith("arn:aws"))`},
		{"regex", `managedCluster.metadata.labels["region"].matches("^e[a-z]+$")`},
		{"scores", `managedCluster.scores("demo").filter(s, s.name == "cpu").all(s, s.value > 80)`},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
			b.ReportAllocs()

			for b.Loop() {
				evaluation := &EvalContext{Now: now}
				for _, f := range fleet {
					s.Match(f, evaluation)
				}
				b.ReportMetric(float64(evaluation.Cost())/clusters, "units/cluster")
			}
		})
	}
}

// BenchmarkCELUnits measures what a unit of cost takes at most: each expression makes something of which a unit is expensive, until it ends
// by the limit. MaxCost is set from the highest of these figures.
func BenchmarkCELUnits(b *testing.B) {
	const loops = `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, ` +
		`[1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, %s))))))`
	long := strings.Repeat("x", 2000)
	for _, tc := range []struct{ name, expression string }{
		{"loop", fmt.Sprintf(loops, `managedCluster.metadata.name != "x"`)},
		{"variables", fmt.Sprintf(loops, `a + b + c + d + e + f > 0`)},
		{"lists", fmt.Sprintf(loops, `[a, b, c] != [d]`)},
		{"maps", fmt.Sprintf(loops, `{"a": a, "b": b}.size() == 2`)},
		{"mapped", fmt.Sprintf(loops, `[a, b, c].map(x, x + 1).size() == 3`)},
		{"equality", fmt.Sprintf(loops, `[a, b, [c, {"a": d}]] != [a, b, [c, {"a": dyn("x")}]]`)},
		{"labels", fmt.Sprintf(loops, `"x" in managedCluster.metadata.labels || true`)},
		{"format", fmt.Sprintf(loops, `"%s %s".format([a, managedCluster.metadata.labels]) != ""`)},
		{"texts", fmt.Sprintf(loops, `managedCluster.metadata.name + "`+long+`" != managedCluster.metadata.name`)},
		{"runes", fmt.Sprintf(loops, `(managedCluster.metadata.name + "`+long+`").upperAscii().size() > 0`)},
		{"search", fmt.Sprintf(loops, `(managedCluster.metadata.name + "`+long+`").indexOf("xxxxxxxxxxxxxxxxy") < 0`)},
		{"regex", fmt.Sprintf(loops, `!(managedCluster.metadata.name + "`+long+`").matches("(x+x+)+y")`)},
		{"backtrack", fmt.Sprintf(loops, `!(managedCluster.metadata.name + "xxxxxxxxxxxx").matches("(x|x|x)*(x|x|x)*y")`)},
		{"findAll", fmt.Sprintf(loops, `(managedCluster.metadata.name + "xxxxxxxxxxxx").findAll("x.*y|x").size() > 0`)},
		{"dynamicRegex", fmt.Sprintf(loops, `!"x".matches("[a-z]{20}" + managedCluster.metadata.name)`)},
		{"json", fmt.Sprintf(loops, `"{\"a\": [[], {}, [1, 2, {\"b\": null}]]}".parseJSON().size() == 1`)},
		{"semver", fmt.Sprintf(loops, `semver("1.2.3").isLessThan(semver("1.2.4"))`)},
		{"quantity", fmt.Sprintf(loops, `quantity("1.5Gi").isLessThan(quantity("2Gi"))`)},
		{"url", fmt.Sprintf(loops, `url("https://example.com/a?b=c&d=e").getQuery().size() == 2`)},
		{"formats", fmt.Sprintf(loops, `!format.dns1123Subdomain().validate("a.b.c.d.e.f").hasValue()`)},
		{"zones", fmt.Sprintf(loops, `timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin") > -1`)},
		{"cidr", fmt.Sprintf(loops, `cidr("10.0.0.0/8").containsIP("10.1.2.3")`)},
		{"split", fmt.Sprintf(loops, `(managedCluster.metadata.name + "a,b,c,d").split(",").join("-") != ""`)},
		{"scores", fmt.Sprintf(loops, `managedCluster.scores("demo").size() == 2`)},
		{"conversion", fmt.Sprintf(loops, `managedCluster.size() == 3`)},
		{"optional", fmt.Sprintf(loops, `managedCluster.?metadata.?labels[?"x"].orValue("") == ""`)},
		{"constants", fmt.Sprintf(loops, strings.Repeat("true && ", 100)+"true")},
	} {
		b.Run(tc.name, func(b *testing.B) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
			b.ReportAllocs()
			units := uint64(0)
			f := cluster()

			for b.Loop() {
				evaluation := &EvalContext{Now: now}
				s.Match(f, evaluation)
				units += evaluation.Cost()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(units), "ns/unit")
		})
	}
}
