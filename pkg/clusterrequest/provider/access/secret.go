// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// Keys of the Secret of an AccessRequest. The timestamps are Unix seconds. Host, certificate authority and token are those of the kubeconfig, for
// programs that read the keys of openMCP.
const (
	KubeconfigKey = "kubeconfig"
	CreationKey   = "creationTimestamp"
	ExpirationKey = "expirationTimestamp"
	HostKey       = "host"
	CAKey         = "ca.crt"
	TokenKey      = "token"
)

const decimal = 10

// token authenticates as the ServiceAccount of an AccessRequest.
type token struct {
	value            string
	created, expires time.Time
}

// writeSecret writes the Secret with the kubeconfig where the token has to be renewed or the cluster is reached otherwise. It returns when
// the token has to be renewed next.
func (r *reconciler) writeSecret(
	ctx context.Context, request *openmcpv1alpha1.AccessRequest, target *target, account *corev1.ServiceAccount,
) (time.Time, error) {
	secret, err := r.secret(ctx, request)
	if err != nil {
		return time.Time{}, err
	}
	if secret.UID != "" && !metav1.IsControlledBy(secret, request) {
		return time.Time{}, &refusal{openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonError, fmt.Sprintf(
			"Secret %s exists and is not of this AccessRequest: delete it, or create an AccessRequest of another name", secret.Name)}
	}
	current := tokenIn(secret)
	now := r.Clock.Now()
	if current.value == "" || secret.Annotations[openmcpv1alpha1.AccountAnnotation] != string(account.UID) ||
		!now.Before(clusterrequest.RenewalTime(current.created, current.expires)) {
		if current, err = target.token(ctx, account, r.TokenLifetime); err != nil {
			return time.Time{}, err
		}
		current.created = now
		klog.FromContext(ctx).V(2).Info("Made a token", "cluster", clusterKey(request), "expires", current.expires)
	}

	config := target.anonymous()
	config.BearerToken = current.value
	if err := rest.LoadTLSFiles(config); err != nil {
		return time.Time{}, fmt.Errorf("read the certificate authority for AccessRequest %s: %w", client.ObjectKeyFromObject(request), err)
	}

	kubeconfig, err := localplane.Kubeconfig(config)
	if err != nil {
		return time.Time{}, fmt.Errorf("make the kubeconfig of AccessRequest %s: %w", client.ObjectKeyFromObject(request), err)
	}

	before := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, openmcpv1alpha1.AccountAnnotation, string(account.UID))
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(request, openmcpv1alpha1.GroupVersion.WithKind("AccessRequest"))}
	secret.OwnerReferences[0].BlockOwnerDeletion = nil // It would need the right to update the finalizers of AccessRequests.
	secret.Data = map[string][]byte{
		KubeconfigKey: kubeconfig, CreationKey: unix(current.created), ExpirationKey: unix(current.expires),
		HostKey: []byte(config.Host), CAKey: config.CAData, TokenKey: []byte(current.value),
	}
	return clusterrequest.RenewalTime(current.created, current.expires), r.put(ctx, before, secret)
}

// put creates a Secret that has no UID, and updates another one that has changed.
func (r *reconciler) put(ctx context.Context, before, secret *corev1.Secret) error {
	var err error
	switch {
	case before.UID == "":
		err = r.writer.Create(ctx, secret)
	case !equality.Semantic.DeepEqual(before, secret):
		err = r.writer.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("writing Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

// secret returns the Secret of an AccessRequest, without a UID if it does not exist. Secrets are not cached, so that the provider needs no
// right to list them.
func (r *reconciler) secret(ctx context.Context, request *openmcpv1alpha1.AccessRequest) (*corev1.Secret, error) {
	meta := metav1.ObjectMeta{Namespace: request.Namespace, Name: clusterrequest.SecretName(request.Name)}
	secret := &corev1.Secret{ObjectMeta: meta}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) {
		return &corev1.Secret{ObjectMeta: meta}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return secret, nil
}

// deleteSecret deletes the Secret of an AccessRequest, and no other one of its name.
func (r *reconciler) deleteSecret(ctx context.Context, request *openmcpv1alpha1.AccessRequest) error {
	secret, err := r.secret(ctx, request)
	if err != nil {
		return err
	}
	if secret.UID == "" || !metav1.IsControlledBy(secret, request) {
		return nil
	}
	if err := client.IgnoreNotFound(r.writer.Delete(ctx, secret, client.Preconditions{UID: &secret.UID})); err != nil {
		return fmt.Errorf("deleting Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}

// tokenIn returns the token of a Secret; its value is empty if the Secret has none. Users of the namespace may have written the kubeconfig:
// it is decoded and never loaded as a client configuration, which would read files of the provider that it names.
func tokenIn(secret *corev1.Secret) token {
	kubeconfig, err := clientcmd.Load(secret.Data[KubeconfigKey])
	if err != nil {
		return token{}
	}
	context := kubeconfig.Contexts[kubeconfig.CurrentContext]
	if context == nil || kubeconfig.AuthInfos[context.AuthInfo] == nil {
		return token{}
	}
	return token{
		value:   kubeconfig.AuthInfos[context.AuthInfo].Token,
		created: timeOf(secret.Data[CreationKey]), expires: timeOf(secret.Data[ExpirationKey]),
	}
}

func unix(at time.Time) []byte { return strconv.AppendInt(nil, at.Unix(), decimal) }

// timeOf returns the time of a number of Unix seconds; the epoch for any other text, so that the token counts as expired.
func timeOf(text []byte) time.Time {
	seconds, err := strconv.ParseInt(string(text), decimal, 64)
	if err != nil {
		return time.Unix(0, 0)
	}
	return time.Unix(seconds, 0)
}
