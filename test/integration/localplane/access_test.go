// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// whoAmI returns the user that the API server authenticates for a configuration.
func whoAmI(t *testing.T, config *rest.Config) authenticationv1.UserInfo {
	t.Helper()
	c, err := authenticationv1client.NewForConfig(config)
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	review, err := c.SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("asking for the own identity: %v", err)
	}
	return review.Status.UserInfo
}

func assertForbidden(t *testing.T, config *rest.Config) {
	t.Helper()
	_, err := client(t, config).Secrets("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("listing secrets without a role: %v, want Forbidden", err)
	}
}

func TestUserConfig(t *testing.T) {
	e := sharedControlPlane(t)
	config, err := e.UserConfig("alice", "team-b", "team-a")
	if err != nil {
		t.Fatal(err)
	}
	who := whoAmI(t, config)
	if who.Username != "alice" || !slices.Contains(who.Groups, "team-a") || !slices.Contains(who.Groups, "team-b") {
		t.Errorf("the API server sees %+v, want alice of team-a and team-b", who)
	}
	assertForbidden(t, config)
}

func TestServiceAccountConfig(t *testing.T) {
	e := sharedControlPlane(t)
	config, err := e.ServiceAccountConfig(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	if who, want := whoAmI(t, config).Username, "system:serviceaccount:default:default"; who != want {
		t.Errorf("the API server sees %q, want %q", who, want)
	}
	assertForbidden(t, config)

	_, err = e.ServiceAccountConfig(t.Context(), "default", "absent")
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "default/absent") {
		t.Errorf("an account that does not exist: %v, want NotFound with its name", err)
	}
}

func TestKubeconfigGivesTheSameAccess(t *testing.T) {
	e := sharedControlPlane(t)
	byToken, err := e.ServiceAccountConfig(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	for want, config := range map[string]*rest.Config{
		"placement-hub-admin":                   e.AdminConfig(),
		"system:serviceaccount:default:default": byToken,
	} {
		content, err := localplane.Kubeconfig(config)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		parsed, err := clientcmd.RESTConfigFromKubeConfig(content)
		if err != nil {
			t.Fatalf("%s: reading the kubeconfig: %v", want, err)
		}
		if who := whoAmI(t, parsed).Username; who != want {
			t.Errorf("the API server sees %q by the kubeconfig, want %q", who, want)
		}
	}
	if _, err := localplane.Kubeconfig(&rest.Config{Host: "https://example.com", ExecProvider: &clientcmdapi.ExecConfig{}}); err == nil {
		t.Error("a configuration with a plugin cannot become a self-contained kubeconfig")
	}
}

func TestGarbageCollection(t *testing.T) {
	e := sharedControlPlane(t)
	owner := createConfigMap(t, e.AdminConfig(), "owner")
	createConfigMap(t, e.AdminConfig(), "owned", metav1.OwnerReference{
		APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID,
	})
	maps := client(t, e.AdminConfig()).ConfigMaps("default")
	if err := maps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the owner: %v", err)
	}
	const collector = "system:serviceaccount:kube-system:generic-garbage-collector"
	eventually(t, "waiting for the garbage collector to delete the owned object", func() error {
		if err := getConfigMap(t.Context(), t, e.AdminConfig(), "owned"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("reading it: %w, want NotFound", err)
		}
		writes, err := e.Writes(localplane.By(collector))
		if err != nil {
			return err
		}
		for _, write := range writes {
			if write.Verb == "delete" && write.ObjectRef.Name == "owned" {
				return nil
			}
		}
		return fmt.Errorf("no delete among %d writes of %s", len(writes), collector)
	})
}
