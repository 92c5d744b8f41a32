// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

func isRequest(_ *Options, text string) bool { return objectnames.IsRequest(text) }

// completeRequests offers the ClusterRequests of the namespace after their type, and before that the type.
func (o *Options) completeRequests(cmd *cobra.Command, begun string) []string {
	text, name, slashed := strings.Cut(begun, "/")
	if typed := objectnames.RequestType; !slashed && begun != "" && strings.HasPrefix(typed, begun) {
		return []string{objectnames.RequestType + "/"}
	}
	if !slashed || !objectnames.IsRequest(text) {
		return nil
	}
	var offered []string
	for _, found := range o.Names(cmd.Context(), o.CurrentNamespace(), name, &openmcpv1alpha1.ClusterRequestList{}) {
		offered = append(offered, text+"/"+found)
	}
	return offered
}

// checkRequestFlags reports flags that mean nothing for ClusterRequests.
func (o *Options) checkRequestFlags() error {
	switch {
	case o.All || o.AllNamespaces:
		return errors.New("--all, --all-namespaces: they list placements; leave them out, or leave the ClusterRequest out")
	case len(o.Clusters) > 0 || o.API != "":
		return errors.New("--cluster, --api: they are about placements; the report of a ClusterRequest has all Clusters, so leave them out")
	case o.Watch:
		return errors.New("--watch follows placements; a ClusterRequest is explained once, so leave it out")
	default:
		return errors.Join(o.checkFormat(), o.checkHub(), o.CheckSettings())
	}
}

// runRequests prints what ClusterRequests that arguments name have or get, and why.
func runRequests(ctx context.Context, o *Options, args []string, stdin io.Reader, stdout io.Writer) error {
	names, unparsed := objectnames.ParseRequests(args)
	now, err := hubflags.ParseNow(o.Now)
	if err = errors.Join(unparsed, err, o.checkRequestFlags()); err != nil {
		return exit.Mistake(err)
	}
	source, err := o.source(ctx, stdin)
	if err != nil {
		return err
	}
	objects, err := source.Requests(ctx)
	if err != nil {
		return o.runUnreadRequests(ctx, source, names, err, stdout)
	}
	explaining := o.explaining()
	explaining.Suggest = func(name string, names []string) string {
		return suggest.DidYouMean(name, objectnames.RequestType+"/", names)
	}
	reports, missing := explaining.ClusterRequests(objects, source.Namespace, names, o.TimeOf(now, o.Now))
	if len(reports.Requests) == 0 {
		return missing
	}
	return errors.Join(o.print(stdout, *reports), missing)
}

// runUnreadRequests explains ClusterRequests to a user who may not read what decides about them: the hub does it, or else the output is what the
// hub has written, with the error.
func (o *Options) runUnreadRequests(ctx context.Context, from *hubflags.Source, names []string, refused error, stdout io.Writer) error {
	objects := make([]endpoint.Object, 0, len(names))
	for _, name := range names {
		objects = append(objects, tools.RequestObject(name))
	}
	answer, err := hubflags.AskUnread(refused, func() (endpoint.Answer, error) { return o.ask(ctx, from, from.Namespace, objects) })
	if answer != nil {
		return hubflags.WriteAnswer(stdout, answer, err)
	}
	return o.printWrittenRequests(ctx, from, names, err, stdout)
}

// printWrittenRequests prints what the hub has written for ClusterRequests, and returns the error, if that is about a missing right; otherwise
// it returns only the error.
func (o *Options) printWrittenRequests(ctx context.Context, from *hubflags.Source, names []string, refused error, stdout io.Writer) error {
	if !apierrors.IsForbidden(refused) {
		return refused
	}
	found, err := hubstate.WrittenRequests(ctx, from.Hub, from.Namespace, names, "as this user may not read what the request is decided by")
	if len(found) < len(names) && err == nil {
		err = fmt.Errorf("%d of %d ClusterRequests do not exist in namespace %s; correct the name or the namespace",
			len(names)-len(found), len(names), from.Namespace)
	}
	if len(found) == 0 {
		return errors.Join(refused, err)
	}
	reports := requests.Reports{Requests: found}
	return errors.Join(o.print(stdout, reports), refused, err)
}
