#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The three controllers of k8s.io/apiserver that load certificate authorities have the same method RunOnce(ctx) error, which callers call at their
# start to fail early. What it returns differs for the same cause.
#
# Versions:  k8s.io/apiserver and k8s.io/client-go v0.37.2, and Go 1.26.
# Input:     the authorities do not exist; reading them is forbidden; they are empty. The ConfigMap is that of an aggregated API server or of any
#            server that admits clients as kube-apiserver does, extension-apiserver-authentication in kube-system.
# Seen:      DynamicFileCAContent returns an error for a file that is missing or empty.
#            ConfigMapCAController returns nil whatever is wrong, also without the right to read the ConfigMap: the authorities stay empty, so that no
#            client certificate is accepted, and nothing of it is in the error.
#            RequestHeaderAuthRequestController returns nil for a ConfigMap that is missing, and an error for one that is forbidden.
# Expected:  the same cause gives an error by all three, or by none. Who needs to know has to ask CurrentCABundleContent after RunOnce, and to read
#            the ConfigMap once by a client of its own for the cause.
#
# The script needs Go 1.26 and a module proxy. It exits with 1 if the behaviour differs from what is written here.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat >go.mod <<'END'
module finding

go 1.26

require (
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/apiserver v0.37.2
	k8s.io/client-go v0.37.2
)
END
cat >main.go <<'END'
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/request/headerrequest"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

const (
	namespace = "kube-system"
	name      = "extension-apiserver-authentication"
)

// client returns a client of an API server on which the ConfigMap is missing, forbidden or empty.
func client(state string) kubernetes.Interface {
	if state == "empty" {
		return fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	api := fake.NewClientset()
	if state == "forbidden" {
		api.PrependReactor("*", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), name, nil)
		})
	}
	return api
}

func failed(err error) string {
	if err == nil {
		return "nil"
	}
	return "an error"
}

func file(content *string) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("authorities-%d", os.Getpid()))
	defer os.Remove(path)
	if content == nil {
		_, err := dynamiccertificates.NewDynamicCAContentFromFile("authorities", path)
		fmt.Println("file, missing at the start:", failed(err))
		return
	}
	if err := os.WriteFile(path, []byte(*content), 0o600); err != nil {
		panic(err)
	}
	_, err := dynamiccertificates.NewDynamicCAContentFromFile("authorities", path)
	fmt.Println("file, empty at the start:", failed(err))
}

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctx := context.Background()

	file(nil)
	empty := ""
	file(&empty)
	for _, state := range []string{"missing", "forbidden", "empty"} {
		authorities, err := dynamiccertificates.NewDynamicCAFromConfigMapController("authorities", namespace, name, "client-ca-file", client(state))
		if err != nil {
			panic(err)
		}
		err = authorities.RunOnce(ctx)
		fmt.Printf("ConfigMap of authorities, %s: %s, %d bytes of authorities\n", state, failed(err), len(authorities.CurrentCABundleContent()))
	}
	for _, state := range []string{"missing", "forbidden", "empty"} {
		headers := headerrequest.NewRequestHeaderAuthRequestController(name, namespace, client(state),
			"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers", "requestheader-extra-headers-prefix",
			"requestheader-allowed-names")
		fmt.Printf("ConfigMap of request headers, %s: %s\n", state, failed(headers.RunOnce(ctx)))
	}
}
END

cat >expected <<'END'
file, missing at the start: an error
file, empty at the start: an error
ConfigMap of authorities, missing: nil, 0 bytes of authorities
ConfigMap of authorities, forbidden: nil, 0 bytes of authorities
ConfigMap of authorities, empty: nil, 0 bytes of authorities
ConfigMap of request headers, missing: nil
ConfigMap of request headers, forbidden: an error
ConfigMap of request headers, empty: nil
END
go mod tidy 2>tidy.log || { cat tidy.log; exit 1; }
go run . >seen
cat seen
diff expected seen
