// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
)

func TestManifestsPrintsWhatIsChosen(t *testing.T) {
	cases := []struct {
		reason string
		args   []string
		chosen deploy.Choices
	}{
		{"a hub of its own", nil, deploy.Choices{}},
		{"systems are sorted, and each is there once", []string{"--system=podscheduling,federation", "--system=federation"}, deploy.Choices{
			Systems: []string{manifests.Federation, manifests.PodScheduling},
		}},
		{"beside upstream", []string{"--beside-upstream", "--image=registry.example/hub:v1"}, deploy.Choices{
			BesideUpstream: true, Image: "registry.example/hub:v1",
		}},
		{"what turns a system off", []string{"--removal", "--system=federation"}, deploy.Choices{Systems: []string{manifests.Federation}}},
		{"without taints, with ManifestWorks", []string{"--without-taints", "--manifestworks"}, deploy.Choices{
			WithoutTaints: true, ManifestWorks: true,
		}},
		{"without FlowSchemas", []string{"--without-flow-schemas"}, deploy.Choices{WithoutFlowSchemas: true}},
		{"by URLs", []string{
			"--system=affinityclass", "--webhook-url=https://hub.example.com:9443", "--explain-address=https://hub.example.com",
		}, deploy.Choices{
			Systems: []string{manifests.AffinityClass}, WebhookURL: "https://hub.example.com:9443", ExplainAddress: "https://hub.example.com",
		}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			var out, errors bytes.Buffer
			if code := execute(t.Context(), append([]string{"manifests"}, c.args...), &out, &errors); code != exit.OK || errors.Len() > 0 {
				t.Fatalf("exit code %d: %s", code, errors.String())
			}
			got, err := manifests.Decode(&out, "printed")
			if err != nil {
				t.Fatal(err)
			}
			objectsOf := deploy.Objects
			if slices.Contains(c.args, "--removal") {
				objectsOf = deploy.Removal
			}
			want, err := objectsOf(c.chosen)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManifestsRefusesWhatHasNoMeaning(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{
			[]string{"--system=fleet"},
			`--system: there is no system "fleet"; use affinityclass, clusterprofiles, clusterrequest, federation, podscheduling`,
		},
		{[]string{"--beside-upstream", "--without-taints"}, "--without-taints has no effect with --beside-upstream"},
		{[]string{"--webhook-url=hub.example.com:9443"}, `--webhook-url: the URL of the webhook is "hub.example.com:9443": use https://host:port`},
		{[]string{"--webhook-url=https://a@hub.example.com"}, "--webhook-url: the URL of the webhook is"},
		{[]string{"--explain-address=http://hub.example.com"}, "--explain-address: \"http://hub.example.com\" must be https://HOST"},
		{[]string{"federation"}, `unknown command "federation" for "placement manifests"`},
	} {
		var out, errors bytes.Buffer
		code := execute(t.Context(), append([]string{"manifests"}, c.args...), &out, &errors)
		if code != exit.Usage || !strings.Contains(errors.String(), c.want) || out.Len() > 0 {
			t.Errorf("manifests %v: exit code %d, want %d; %s", c.args, code, exit.Usage, errors.String())
		}
	}
}
