// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
)

const hubURL = "https://hub.example.com:9443"

// Every webhook of the chart is called at the URL of the values, as `placement manifests --webhook-url` prints it.
func TestWebhooksByURL(t *testing.T) {
	for _, c := range []struct{ reason, url string }{
		{"a host and a port", hubURL},
		{"a path, which ends with a slash", "https://gateway.example.com/hub/"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			want := configurations(decode(t, printed(t, deploy.Choices{Systems: manifests.Systems(), WebhookURL: c.url})))
			got := configurations(decode(t, render(t, append(everything(), "webhooks.url="+c.url)...)))
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 6 {
				t.Errorf("%d configurations; the chart (+) differs from placement manifests (-):\n%s", len(got), diff)
			}
		})
	}
}

// configurations returns the webhook configurations by their kinds and names.
func configurations(objects []*unstructured.Unstructured) map[string]any {
	found := map[string]any{}
	for _, object := range objects {
		if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
			found[describe(object)] = joinLines(object.Object)
		}
	}
	return found
}

// The arguments have the address of the explanations once, and none by default.
func TestExplanationsURL(t *testing.T) {
	for _, c := range []struct {
		reason string
		set    []string
		want   []string
	}{
		{"the default", nil, nil},
		{"a URL", []string{"explanations.url=" + hubURL}, []string{"--explain-address=" + hubURL}},
		{"a system beside upstream", []string{"besideUpstream=true", "systems.podscheduling=true", "explanations.url=" + hubURL},
			[]string{"--explain-address=" + hubURL}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var got []string
			for line := range strings.Lines(render(t, c.set...)) {
				if argument := strings.TrimPrefix(strings.TrimSpace(line), "- "); strings.HasPrefix(argument, "--explain-address") {
					got = append(got, argument)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the arguments have %q, want %q", got, c.want)
			}
		})
	}
}

// The runbooks of alerts are those that the dashboard serves where the chart knows its address, and those of the repository elsewhere.
func TestRunbooksOfAlerts(t *testing.T) {
	for address, want := range map[string]string{
		"":                                "https://github.com/",
		"https://placements.example.com":  "https://placements.example.com/runbooks/",
		"https://placements.example.com/": "https://placements.example.com/runbooks/",
	} {
		alerts := 0
		for line := range strings.Lines(render(t, "monitoring.prometheusRule=true", "dashboard.url="+address)) {
			runbook, found := strings.CutPrefix(strings.TrimSpace(line), "runbook_url: ")
			if !found {
				continue
			}
			alerts++
			if !strings.HasPrefix(runbook, want) {
				t.Errorf("with dashboard.url=%s the runbook of an alert is %s, want %s", address, runbook, want)
			}
		}
		if alerts == 0 {
			t.Errorf("with dashboard.url=%s no alert has a runbook", address)
		}
	}
}

// An upgrade changes between the Service and a URL, and takes over what was edited by hand. The bundle of the hub stays.
func TestWebhooksByURLAreUpgraded(t *testing.T) { forEachHelm(t, checkURLs) }

func checkURLs(t *testing.T, helm helmVersion) {
	t.Helper()
	c := startCluster(t, helm)
	c.install(t, flags(everything())...)
	c.writeBundle(t)
	byURL := append(everything(), "webhooks.url="+hubURL)
	for _, step := range []struct {
		reason string
		do     func()
		url    string
	}{
		{"a URL", func() { c.install(t, flags(byURL)...) }, hubURL},
		{"the same again", func() { c.install(t, flags(byURL)...) }, hubURL},
		{"another URL", func() {
			c.install(t, flags(append(everything(), "webhooks.url=https://other.example.com"))...)
		}, "https://other.example.com"},
		{"the Service", func() { c.install(t, flags(everything())...) }, ""},
		{"by hand", func() { c.editURLs(t, hubURL) }, hubURL},
		{"the same URL by the value", func() { c.install(t, flags(byURL)...) }, hubURL},
		{"the Service again, for which the URL by hand has to go", func() {
			c.deleteConfigurations(t)
			c.install(t, flags(everything())...)
			c.writeBundle(t)
		}, ""},
	} {
		t.Run(step.reason, func(t *testing.T) {
			step.do()
			c.expectURLs(t, step.url)
		})
	}
}

// eachWebhook calls a function with each webhook of the cluster, and writes the configurations that it changes.
func (c cluster) eachWebhook(t *testing.T, do func(name string, client *admissionv1.WebhookClientConfig) bool) {
	t.Helper()
	mutating, validating := &admissionv1.MutatingWebhookConfigurationList{}, &admissionv1.ValidatingWebhookConfigurationList{}
	if err := errors.Join(c.client.List(t.Context(), mutating), c.client.List(t.Context(), validating)); err != nil {
		t.Fatal(err)
	}
	for n := range mutating.Items {
		changed := false
		for i := range mutating.Items[n].Webhooks {
			changed = do(mutating.Items[n].Webhooks[i].Name, &mutating.Items[n].Webhooks[i].ClientConfig) || changed
		}
		if changed {
			update(t, c, &mutating.Items[n])
		}
	}
	for n := range validating.Items {
		changed := false
		for i := range validating.Items[n].Webhooks {
			changed = do(validating.Items[n].Webhooks[i].Name, &validating.Items[n].Webhooks[i].ClientConfig) || changed
		}
		if changed {
			update(t, c, &validating.Items[n])
		}
	}
}

func update(t *testing.T, c cluster, object client.Object) {
	t.Helper()
	if err := c.client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// expectURLs expects that the webhooks are called at paths of a URL; empty expects their Service.
func (c cluster) expectURLs(t *testing.T, base string) {
	t.Helper()
	count := 0
	c.eachWebhook(t, func(name string, client *admissionv1.WebhookClientConfig) bool {
		count++
		switch {
		case base == "" && (client.URL != nil || client.Service == nil):
			t.Errorf("webhook %s has %+v, want the Service", name, client)
		case base != "" && (client.Service != nil || client.URL == nil || !strings.HasPrefix(*client.URL, base+"/")):
			t.Errorf("webhook %s has %+v, want a path of %s", name, client, base)
		}
		return false
	})
	if count < 9 {
		t.Errorf("there are %d webhooks", count)
	}
	if bundle := c.bundle(t); string(bundle) != "of the hub" {
		t.Errorf("caBundle is %q, and was written by the hub", bundle)
	}
}

// editURLs replaces the Services of all webhooks by URLs, as a user does with kubectl edit.
func (c cluster) editURLs(t *testing.T, base string) {
	t.Helper()
	c.eachWebhook(t, func(_ string, client *admissionv1.WebhookClientConfig) bool {
		url := base + *client.Service.Path
		client.URL, client.Service = &url, nil
		return true
	})
}

// deleteConfigurations deletes all webhook configurations.
func (c cluster) deleteConfigurations(t *testing.T) {
	t.Helper()
	for _, all := range []client.Object{&admissionv1.MutatingWebhookConfiguration{}, &admissionv1.ValidatingWebhookConfiguration{}} {
		if err := c.client.DeleteAllOf(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
}

// The patch of docs/explain.md gives the kustomizations the address of the explanations, as the value of the chart does.
func TestPatchOfExplanations(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "explain.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(page), "```yaml\npatches:")
	patch, _, ends := strings.Cut(rest, "```")
	if !found || !ends {
		t.Fatal("docs/explain.md has no patch")
	}
	place := kustomization(t, []string{"deploy/overlays/beside-upstream"}, []string{"deploy/components/podscheduling"})
	file, err := os.OpenFile(filepath.Join(place, "kustomization.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("patches:" + patch)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}

	want := decode(t, printed(t, deploy.Choices{BesideUpstream: true, Systems: []string{manifests.PodScheduling}, ExplainAddress: hubURL}))
	if diff := cmp.Diff(byName(want), byName(decode(t, kubectl(t, "kustomize", place)))); diff != "" {
		t.Errorf("the patched kustomization (+) differs from placement manifests (-):\n%s", diff)
	}
}
