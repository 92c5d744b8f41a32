// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	roleName   = "open-cluster-management:placement-hub:argocd-refresh"
	policyName = "open-cluster-management-placement-hub-argocd-refresh"
)

// checkStart starts the process without Argo CD and without rights, and installs the definitions of Argo CD.
func checkStart(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := newPlace(t, h, "starts")
	process := p.start(t)
	process.WantExit(t, 1)
	process.WantStderr(t, "Error: the hub does not serve applicationsets.argoproj.io/v1alpha1; install Argo CD")

	h.Apply(t, definitions)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: roleName}}
	suite.Must(t, h.Client.Delete(t.Context(), binding))
	suite.Eventually(t, "waiting for the loss of rights", func() error {
		process = p.start(t)
		process.WantExit(t, 1)
		if !strings.Contains(process.Stderr.String(), "get configmaps in namespace starts") {
			return errors.New(process.String())
		}
		return nil
	})
	process.WantStderr(t, "the hub does not allow this process to:", "  patch applicationsets.argoproj.io in namespace starts\n",
		"  watch placementdecisions.cluster.open-cluster-management.io in namespace starts\n", "ServiceAccount of manifests/argocdrefresh")
}

// checkPolicy has the account try every kind of change with the rights of an administrator, so that nothing but the policy refuses it.
func checkPolicy(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := newPlace(t, h, "policy")
	api := p.powerful(t)
	p.create(t, "s", decided("p"), "note", "a")
	key := client.ObjectKey{Namespace: p.namespace, Name: "s"}
	for _, change := range []struct {
		reason, patch string
		allowed       bool
	}{
		{"the annotation is added", `{"metadata":{"annotations":{"argocd.argoproj.io/application-set-refresh":"true"}}}`, true},
		{"the annotation is removed", `{"metadata":{"annotations":{"argocd.argoproj.io/application-set-refresh":null}}}`, true},
		{"nothing", `{}`, true},
		{"a generator", `{"spec":{"generators":[{"list":{"elements":[{"cluster":"x"}]}}]}}`, false},
		{"the template", `{"spec":{"template":{"spec":{"source":{"repoURL":"https://example.com/evil"}}}}}`, false},
		{"a field of spec that is new", `{"spec":{"goTemplate":true}}`, false},
		{"a field of spec that goes", `{"spec":{"template":{"spec":{"project":null}}}}`, false},
		{
			"spec beside the annotation",
			`{"metadata":{"annotations":{"argocd.argoproj.io/application-set-refresh":"true"}},"spec":{"goTemplate":true}}`, false,
		},
		{"another annotation", `{"metadata":{"annotations":{"argocd.argoproj.io/sync-options":"Prune=false"}}}`, false},
		{"another annotation changes", `{"metadata":{"annotations":{"note":"b"}}}`, false},
		{"another annotation goes", `{"metadata":{"annotations":{"note":null}}}`, false},
		{"all annotations go", `{"metadata":{"annotations":null}}`, false},
		{"a label", `{"metadata":{"labels":{"a":"b"}}}`, false},
		{"a finalizer", `{"metadata":{"finalizers":["example.com/a"]}}`, false},
		{"an owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a","uid":"u"}]}}`, false},
	} {
		t.Run(change.reason, func(t *testing.T) {
			set := &unstructured.Unstructured{}
			set.SetGroupVersionKind(argoproj.WithKind("ApplicationSet"))
			suite.Must(t, p.Client.Get(t.Context(), key, set))
			wantAllowed(t, change.allowed, api.Patch(t.Context(), set, suite.MergePatch(change.patch)))
		})
	}
	t.Run("the status", func(t *testing.T) {
		set := p.applicationSet(t, "s", decided("p"))
		wantAllowed(t, false, api.Status().Patch(t.Context(), set, suite.MergePatch(`{"status":{"resourcesCount":1}}`)))
	})
	t.Run("another ApplicationSet", func(t *testing.T) {
		wantAllowed(t, false, api.Create(t.Context(), p.applicationSet(t, "another", decided("p"))))
	})
	t.Run("its end", func(t *testing.T) {
		wantAllowed(t, false, api.Delete(t.Context(), p.applicationSet(t, "s", decided("p"))))
	})
	t.Run("others may do all of that", func(t *testing.T) {
		set := p.create(t, "other", decided("p"))
		suite.Must(t, p.Client.Patch(t.Context(), set, suite.MergePatch(`{"metadata":{"labels":{"a":"b"}},"spec":{"goTemplate":true}}`)))
		suite.Must(t, p.Client.Delete(t.Context(), set))
	})
}

// wantAllowed expects that the policy allowed a request, or that it refused it.
func wantAllowed(t *testing.T, allowed bool, err error) {
	t.Helper()
	const sentence = `this account may change nothing of an ApplicationSet but the annotation "argocd.argoproj.io/application-set-refresh"`
	switch {
	case allowed && err != nil:
		t.Errorf("refused: %v", err)
	case !allowed && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), sentence)):
		t.Errorf("got %v, want a refusal by the policy", err)
	}
}

// powerful returns a client of the account with all rights on ApplicationSets, as soon as policy and rights are enforced.
func (p *place) powerful(t *testing.T) client.Client {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: p.namespace, Name: "everything"}
	suite.Must(t, p.Client.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{argoproj.Group}, Resources: []string{"applicationsets", "applicationsets/status"}, Verbs: []string{"*"},
	}}}))
	suite.Must(t, p.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: p.namespace, Name: manifests.ArgoCDRefreshAccount}},
	}))
	config, err := p.Environment.ServiceAccountConfig(t.Context(), p.namespace, manifests.ArgoCDRefreshAccount)
	suite.Must(t, err)
	api, err := client.New(config, client.Options{Scheme: p.Client.Scheme()})
	suite.Must(t, err)
	suite.Eventually(t, "waiting for the policy", func() error {
		err := client.NewDryRunClient(api).Create(t.Context(), p.applicationSet(t, "tried", decided("p")))
		if err == nil || !strings.Contains(err.Error(), policyName) {
			return fmt.Errorf("it is not enforced: %w", err)
		}
		return nil
	})
	return api
}

// checkProof removes the binding of the policy: a new process stops before it writes, also when it is the binding that is missing.
func checkProof(t *testing.T, h *suite.Hub) {
	t.Helper()
	p := newPlace(t, h, "unproven")
	p.decide(t, "p", 1, in("c1")...)
	idle := p.start(t)
	idle.WaitFor(t, &idle.Stderr, "Following ApplicationSets and PlacementDecisions") // Nothing can be proved by, and nothing refreshed.
	api := p.powerful(t)
	suite.Must(t, h.Client.Delete(t.Context(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policyName},
	}))
	suite.Eventually(t, "waiting for the end of the policy", func() error {
		return client.NewDryRunClient(api).Create(t.Context(), p.applicationSet(t, "tried", decided("p")))
	})
	for _, applicationsSync := range []string{"", "create-only", "create-update", "sync"} {
		set := p.applicationSet(t, "s"+applicationsSync, decided("p"))
		if applicationsSync != "" {
			suite.Must(t, unstructured.SetNestedField(set.Object, applicationsSync, "spec", "syncPolicy", "applicationsSync"))
		}
		suite.Must(t, p.Client.Create(t.Context(), set))
		process := idle
		if applicationsSync != "" {
			process = p.start(t)
		}
		process.WantExit(t, 1)
		process.WantStderr(t, "Error: refreshing ApplicationSets: ",
			"the API server accepts a dry run that changes spec of ApplicationSet unproven/"+set.GetName(),
			"apply manifests/argocdrefresh, whose ValidatingAdmissionPolicy refuses it, run as its ServiceAccount, and start again")
		process.WantNothingLeft(t)
		suite.Must(t, p.Client.Delete(t.Context(), set))
	}
	if written := p.patches(t); len(written) > 0 {
		t.Errorf("wrote %v", written)
	}
}
