// SPDX-License-Identifier: Apache-2.0

package webhookserver

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver/certificates"
)

const day = 24 * time.Hour

var begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// keeper is a reconciler with a fake clock and a client that records writes and may reject them.
type keeper struct {
	*reconciler

	client client.Client
	clock  *clocktesting.FakePassiveClock
	logged []string
	sent   []string
	refuse map[string]error  // by write
	before map[string]func() // called before a write, by write
}

func newKeeper(objects ...client.Object) *keeper {
	k := &keeper{clock: clocktesting.NewFakePassiveClock(begin), refuse: map[string]error{}, before: map[string]func(){}}
	note := func(what string, object client.Object) error {
		entry := what + " " + object.GetName()
		k.sent = append(k.sent, entry)
		if act, found := k.before[entry]; found {
			delete(k.before, entry)
			act()
		}
		return k.refuse[entry]
	}
	below := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).Build()
	k.client = interceptor.NewClient(below, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			if err := note("create", object); err != nil {
				return err
			}
			return c.Create(ctx, object, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			if err := note("update", object); err != nil {
				return err
			}
			return c.Update(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := note("patch", object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, opts...)
		},
	})
	k.reconciler = &reconciler{
		client: k.client, clock: k.clock, key: types.NamespacedName{Namespace: "hub", Name: Secret}, schedule: certificates.Standard(),
		missing: map[absent]bool{}, conflicts: queue.NewConflictBackoff[reconcile.Request](),
		webhooks: []*watched{{Webhook{
			Controller: "managedcluster-defaults", Mutating: testConfiguration, Validating: testConfiguration, Manifests: "manifests/webhook",
		}, k.client}},
	}
	return k
}

// look reconciles, and returns the writes.
func (k *keeper) look(t *testing.T) (sent []string, again time.Duration, err error) {
	t.Helper()
	log := funcr.New(func(_, line string) { k.logged = append(k.logged, line) }, funcr.Options{Verbosity: 0})
	k.sent = nil
	result, err := k.Reconcile(klog.NewContext(t.Context(), log), reconcile.Request{NamespacedName: k.key})
	return k.sent, result.RequeueAfter, err
}

func (k *keeper) want(t *testing.T, reason string, want ...string) (again time.Duration) {
	t.Helper()
	sent, again, err := k.look(t)
	if err != nil {
		t.Fatalf("%s: %v", reason, err)
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Fatalf("%s: sent (-want +got):\n%s", reason, diff)
	}
	return again
}

func (k *keeper) stored(t *testing.T) certificates.Material {
	t.Helper()
	secret := &corev1.Secret{}
	if err := k.client.Get(t.Context(), k.key, secret); err != nil {
		t.Fatal(err)
	}
	return materialOf(secret)
}

func (k *keeper) given(t *testing.T) []byte {
	t.Helper()
	c := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := k.client.Get(t.Context(), client.ObjectKey{Name: testConfiguration}, c); err != nil {
		t.Fatal(err)
	}
	return c.Webhooks[0].ClientConfig.CABundle
}

func TestABundleIsWrittenDownBeforeItIsGivenOut(t *testing.T) {
	const makeSecret, giveOut, writeSecret = "create " + Secret, "patch " + testConfiguration, "update " + Secret
	k := newKeeper(leading("https://127.0.0.1:1/"))
	k.want(t, "nothing is there", makeSecret, giveOut)
	if !bytes.Equal(k.given(t), k.stored(t).Bundle) {
		t.Error("the configuration has another bundle than the Secret")
	}
	k.want(t, "nothing is due")

	k.clock.SetTime(begin.Add(61 * day))
	k.want(t, "a serving certificate is due", writeSecret)

	k.clock.SetTime(begin.Add(200 * day))
	k.want(t, "another one is", writeSecret)

	k.clock.SetTime(begin.Add(250 * day))
	before := k.stored(t)
	k.refuse[writeSecret] = apierrors.NewServiceUnavailable("no")
	if sent, _, err := k.look(t); err == nil || !slices.Equal(sent, []string{writeSecret}) {
		t.Errorf("a bundle that was not written down: sent %q, error %v", sent, err)
	}
	delete(k.refuse, writeSecret)
	k.want(t, "an authority is due", writeSecret, giveOut)
	if after := k.stored(t); !bytes.HasSuffix(after.Bundle, before.Bundle) || bytes.Equal(after.Bundle, before.Bundle) {
		t.Error("the new authority does not stand before the old one")
	}

	// The bundle is deleted and cannot be restored while a certificate is due that only the new authority has signed.
	k.clock.SetTime(begin.Add(251 * day))
	config := leading("https://127.0.0.1:1/")
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Fatal(err)
	}
	config.Webhooks[0].ClientConfig.CABundle = nil
	if err := k.client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	k.refuse[giveOut] = errors.New("no")
	if sent, _, err := k.look(t); err == nil || !slices.Equal(sent, []string{giveOut}) {
		t.Errorf("a certificate is used that nobody trusts: sent %q, error %v", sent, err)
	}
	delete(k.refuse, giveOut)
	k.want(t, "now it is trusted", giveOut, writeSecret)
}

// A clock that was wrong for a moment leaves certificates that are not valid yet.
func TestAClockThatWasWrongIsNoticed(t *testing.T) {
	k := newKeeper(leading("https://127.0.0.1:1/"))
	k.want(t, "nothing is there", "create "+Secret, "patch "+testConfiguration)
	k.clock.SetTime(begin.Add(400 * day))
	if again := k.want(t, "the clock goes wrong", "update "+Secret, "patch "+testConfiguration); again <= 0 || again > 10*time.Minute {
		t.Errorf("to look again after %v, want ten minutes at most", again)
	}
	k.clock.SetTime(begin.Add(time.Minute))
	k.want(t, "it is set right", "update "+Secret, "patch "+testConfiguration)
	pair, err := k.stored(t).Pair()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(k.given(t))
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: k.clock.Now(), DNSName: "127.0.0.1"}); err != nil {
		t.Errorf("what is served is not trusted: %v", err)
	}
	if again := k.want(t, "nothing is due"); again > 10*time.Minute {
		t.Errorf("to look again after %v, want ten minutes at most", again)
	}
}

func TestWhatIsDueSoonIsNotLate(t *testing.T) {
	k := newKeeper()
	k.schedule = certificates.Schedule{Authority: time.Hour, Serving: 6 * time.Minute, Trust: time.Minute, Skew: time.Second}
	if again := k.want(t, "nothing is there", "create "+Secret); again < 3*time.Minute || again > 4*time.Minute {
		t.Errorf("to look again after %v, want two thirds of 6 minutes", again)
	}
}

func TestARemovedWebhookStaysAway(t *testing.T) {
	const giveOut = "patch " + testConfiguration
	k := newKeeper(leading("https://127.0.0.1:1/", "https://127.0.0.1:2/"))
	k.before[giveOut] = func() {
		config := leading()
		if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
			t.Fatal(err)
		}
		config.Webhooks = config.Webhooks[:1]
		if err := k.client.Update(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	// The removal itself is among the writes.
	if again := k.want(t, "one is removed meanwhile", "create "+Secret, giveOut, "update "+testConfiguration); again > time.Minute {
		t.Errorf("to look again after %v, want soon", again)
	}
	k.want(t, "again", giveOut)
	config := leading()
	if err := k.client.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
		t.Fatal(err)
	}
	if len(config.Webhooks) != 1 || len(config.Webhooks[0].ClientConfig.CABundle) == 0 {
		t.Errorf("webhooks are %+v, want the one that was left, with a bundle", config.Webhooks)
	}
}

func TestMissingConfigurationsAreLoggedOnce(t *testing.T) {
	k := newKeeper()
	k.want(t, "nothing is installed", "create "+Secret)
	k.want(t, "nothing is installed still")
	said := func() []string {
		return slices.DeleteFunc(slices.Clone(k.logged), func(line string) bool { return !strings.Contains(line, "apply manifests/webhook") })
	}
	if got := said(); len(got) != 2 || !strings.Contains(got[0], "leave the controller managedcluster-defaults off") {
		t.Errorf("said %q, want each kind once, with what to do", got)
	}
	if err := k.client.Create(t.Context(), leading("")); err != nil {
		t.Fatal(err)
	}
	k.want(t, "it appears, at another Service", "patch "+testConfiguration, "update "+Secret)
	if err := k.client.Delete(t.Context(), leading("")); err != nil {
		t.Fatal(err)
	}
	k.want(t, "it is gone again")
	if got := said(); len(got) != 3 {
		t.Errorf("said %q, want once more", got)
	}
}

func TestWhatCannotBeWritten(t *testing.T) {
	secrets := corev1.Resource("secrets")
	for _, tc := range []struct {
		reason  string
		refusal error
		quiet   bool
		want    []string
	}{
		{reason: "somebody was faster", refusal: apierrors.NewAlreadyExists(secrets, Secret), quiet: true},
		{reason: "there is no namespace", refusal: apierrors.NewNotFound(corev1.Resource("namespaces"), "hub"),
			want: []string{"hub/" + Secret, "create the namespace, or name another with --namespace"}},
		{reason: "nobody may", refusal: apierrors.NewForbidden(secrets, Secret, nil), want: []string{"creating Secret hub/" + Secret}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			k := newKeeper()
			k.refuse["create "+Secret] = tc.refusal
			_, again, err := k.look(t)
			if quiet := err == nil && again > 0; quiet != tc.quiet {
				t.Fatalf("error %v, again after %v; want a quiet retry: %t", err, again, tc.quiet)
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestTheLastGoodCertificateIsServed(t *testing.T) {
	k := newKeeper()
	certs := &certificateSource{reader: k.client, key: k.key}
	if _, err := certs.certificate(t.Context()); err == nil || !strings.Contains(err.Error(), "hub/"+Secret) {
		t.Errorf("there is none yet, but the error is %v", err)
	}
	k.want(t, "nothing is there", "create "+Secret)
	first, err := certs.certificate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := certs.certificate(t.Context()); err != nil || again != first {
		t.Errorf("it is read again though nothing changed (%v)", err)
	}

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "hub", Name: Secret}}
	if err := k.client.Get(t.Context(), k.key, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data[corev1.TLSCertKey] = []byte("edited")
	if err := k.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if kept, err := certs.certificate(t.Context()); err != nil || kept != first {
		t.Errorf("an edited Secret is no reason to serve none (%v)", err)
	}
	k.want(t, "it is mended", "update "+Secret)
	if next, err := certs.certificate(t.Context()); err != nil || next == first {
		t.Errorf("the mended one is not served (%v)", err)
	}
	if err := k.client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if _, err := certs.certificate(t.Context()); err != nil {
		t.Errorf("a deleted Secret is no reason to serve none: %v", err)
	}
}

// docs/spec/pod-scheduling-policy.md 2.1.2: the hub writes caBundle and failurePolicy of a configuration, never rules or selectors.
func TestFailurePolicyIsWritten(t *testing.T) {
	second := leading("https://127.0.0.1:1/")
	second.Name = "second"
	second.Webhooks[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"edited": "by-an-administrator"}}
	k := newKeeper(leading("https://127.0.0.1:1/"), second)
	k.webhooks = append(k.webhooks, &watched{Webhook{
		Controller: "second", Mutating: "second", Manifests: "manifests/second", FailurePolicy: ptr.To(admissionregistrationv1.Fail),
	}, k.client})
	k.want(t, "nothing is there", "create "+Secret, "patch "+testConfiguration, "patch second")

	get := func(name string) admissionregistrationv1.MutatingWebhook {
		t.Helper()
		c := &admissionregistrationv1.MutatingWebhookConfiguration{}
		if err := k.client.Get(t.Context(), client.ObjectKey{Name: name}, c); err != nil {
			t.Fatal(err)
		}
		return c.Webhooks[0]
	}
	want := second.Webhooks[0].DeepCopy()
	want.FailurePolicy, want.ClientConfig.CABundle = ptr.To(admissionregistrationv1.Fail), get(testConfiguration).ClientConfig.CABundle
	if diff := cmp.Diff(*want, get("second")); diff != "" {
		t.Errorf("webhook (-want +got):\n%s", diff)
	}
	if policy := get(testConfiguration).FailurePolicy; policy != nil {
		t.Errorf("a webhook without a failure policy got %s", *policy)
	}

	edited := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := k.client.Get(t.Context(), client.ObjectKey{Name: "second"}, edited); err != nil {
		t.Fatal(err)
	}
	edited.Webhooks[0].FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
	if err := k.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	k.want(t, "the failure policy was edited", "patch second")
	k.want(t, "nothing is due")
}

// The configurations that are missing do not hide those that are there, and the log names the controller of each.
func TestMissingConfigurationsOfOneWebhook(t *testing.T) {
	k := newKeeper(leading("https://127.0.0.1:1/"))
	k.webhooks = append(k.webhooks, &watched{Webhook{
		Controller: "second", Validating: "second", Manifests: "manifests/second",
	}, k.client})
	k.want(t, "nothing is there", "create "+Secret, "patch "+testConfiguration)

	found := slices.ContainsFunc(k.logged, func(line string) bool {
		return strings.Contains(line, "apply manifests/second") && strings.Contains(line, "leave the controller second off") &&
			strings.Contains(line, validatingKind)
	})
	if !found {
		t.Errorf("logged %q, want a line about the controller second", k.logged)
	}
	if slices.ContainsFunc(k.logged, func(line string) bool {
		return strings.Contains(line, "second") && strings.Contains(line, mutatingKind)
	}) {
		t.Errorf("logged %q, want none about a configuration that the webhook does not have", k.logged)
	}
}
