// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// visit is a request for a page by a caller.
type visit struct {
	hub     Hub
	caller  user.Info
	request *http.Request
	now     time.Time
	// everywhere says that the namespaces of the page are all that it is about, and not those that the caller may read; namespacesShown sets it.
	everywhere bool
	// within says that the list of the page has the objects of its namespaces alone, and counts no others.
	within bool
	// tried are the namespaces in which the page looks if it is not about all and the caller has chosen none; namespacesShown sets it, too.
	tried []string
	// local says that the caller has started the dashboard on their machine.
	local bool
	// changes and moves are those of the Server.
	changes *lastChanges
	moves   *lastMoves
}

func (v *visit) query(name string) string { return v.request.URL.Query().Get(name) }

// namespace is the namespace that the caller has chosen; empty for all.
func (v *visit) namespace() string { return v.query("namespace") }

// scopes returns the flags by which commands read the namespaces of the page, at most commandsShown; none if the caller may read none.
func (v *visit) scopes() []string {
	if namespace := v.namespace(); namespace != "" {
		return []string{"-n " + namespace}
	}
	if v.everywhere {
		return []string{"-A"}
	}
	flags := make([]string, 0, commandsShown)
	for _, namespace := range v.tried[:min(len(v.tried), commandsShown)] {
		flags = append(flags, "-n "+namespace)
	}
	return flags
}

// commandsShown bounds the commands that differ by the namespace alone.
const commandsShown = 3

// commandsOf returns commands for the namespaces of the page.
func (v *visit) commandsOf(commands ...string) []string {
	scopes := v.scopes()
	scoped := make([]string, 0, len(commands)*len(scopes))
	for _, scope := range scopes {
		for _, command := range commands {
			scoped = append(scoped, command+" "+scope)
		}
	}
	return scoped
}

// where returns " in namespace NAME" for the namespaces of the page; empty if it is about all.
func (v *visit) where() string {
	names := v.tried
	if namespace := v.namespace(); namespace != "" {
		names = []string{namespace}
	}
	if len(names) == 0 {
		return ""
	}
	word := " in namespace "
	if len(names) > 1 {
		word = " in the namespaces "
	}
	return word + document.Abbreviate(names)
}

// elsewhere says how the caller sees other namespaces than those that were tried; empty if the caller has chosen one.
func (v *visit) elsewhere() string {
	switch {
	case v.namespace() != "" || v.everywhere:
		return ""
	case v.local:
		return "Name a namespace that you may read above, or start placement dashboard with --namespace."
	default:
		return "Name a namespace that you may read above."
	}
}

func (v *visit) reader() client.Client { return v.hub.Reader(v.caller) }

// page is what a view shows.
type page struct {
	// Title names the page, and Section the part of the navigation to which it belongs.
	Title, Section string
	// Crumbs are the pages above it, the uppermost first.
	Crumbs []crumb
	// Commands print the same.
	Commands []string
	// Fragments are the parts of the page that change by themselves.
	Fragments []fragment
	// JSON is the page for programs.
	JSON any
	// Watched says that all that the page shows depends on the objects that Hub.Version counts, until the time Until; zero for ever.
	Watched bool
	Until   time.Time
	// Placement is that of the page, which is brought up to date first when it changes; empty for none.
	Placement inventory.Key
	// Settle is how long after a change the page is made again, for what the hub says only then; 0 for at once. Changes in that time are one.
	Settle time.Duration
	// Static says that the page does not follow changes: what it shows is computed for the one request.
	Static bool
	// Code is the status code; 0 for 200.
	Code int
}

// fragment is a part of a page. Its ID is unique in the page.
type fragment struct {
	ID       string
	Template string
	Data     any
}

// add adds a fragment.
func (p *page) add(id, template string, data any) {
	p.Fragments = append(p.Fragments, fragment{ID: id, Template: template, Data: data})
}

// crumbsOf returns the list of a section, and that of a namespace.
func crumbsOf(section, path, namespace string) []crumb {
	return []crumb{{Text: section, Link: link([]string{path})}, {Text: namespace, Link: link([]string{path}, lists.ByNamespace, namespace)}}
}

// addList adds a list and the form that filters it, which stays as it is while the list changes.
func (p *page) addList(shown *lists.List) {
	p.add("filters", "filters", shown)
	p.add("list", "list", shown)
}

// view makes a page.
type view func(ctx context.Context, v *visit) (*page, error)

// problem is an error with a status code for the caller.
type problem struct {
	code int
	text string
}

func (p *problem) Error() string { return p.text }

func refuse(code int, format string, arguments ...any) error {
	return &problem{code: code, text: fmt.Sprintf(format, arguments...)}
}

// problemOf returns the message and the status code for an error. An error that may name objects that the caller may not read is logged instead.
func problemOf(ctx context.Context, err error) *problem {
	var told *problem
	var answered *endpoint.AnswerError
	var refused *access.RefusalError
	switch {
	case errors.As(err, &told):
		return told
	case errors.As(err, &refused):
		return &problem{code: http.StatusForbidden, text: refused.Error()}
	case apierrors.IsForbidden(err):
		return &problem{code: http.StatusForbidden, text: "you may not read what this page shows: " + forbiddenText(err)}
	case errors.As(err, &answered):
		return &problem{code: http.StatusNotFound, text: answered.Error()}
	case apierrors.IsNotFound(err):
		return &problem{code: http.StatusNotFound, text: "there is no such object; correct the name or the namespace"}
	case meta.IsNoMatchError(err):
		return &problem{code: http.StatusNotFound, text: "the hub does not serve objects of this kind; the system that has them is not " +
			"installed: install it, or choose another page"}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{code: http.StatusServiceUnavailable, text: "the page took too long; choose a namespace, or try again in some seconds"}
	case utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err):
		return &problem{code: http.StatusServiceUnavailable, text: "the hub does not answer; try again in some seconds"}
	case errors.Is(err, context.Canceled):
		return &problem{code: http.StatusServiceUnavailable, text: "the request was cancelled; try again"}
	default:
		klog.FromContext(ctx).Error(err, "Cannot show a page of the dashboard")
		return &problem{code: http.StatusInternalServerError, text: "the hub could not be read; try again, or see the log of the process"}
	}
}

// forbiddenText returns an error Forbidden with what an administrator can do.
func forbiddenText(err error) string {
	return err.Error() + "; a RoleBinding to view in the namespace shows its placements, and a ClusterRoleBinding to " + hubstate.FleetViewRole +
		" shows the whole fleet"
}

// maxNameBytes is the length of the longest name of an object.
const maxNameBytes = 253

// checkNames returns an error if a name in the URL of a request cannot be that of an object. Clients would refuse it with errors of their own.
func checkNames(request *http.Request) error {
	for _, name := range []string{
		request.PathValue("namespace"), request.PathValue("kind"), request.PathValue("name"), request.URL.Query().Get("namespace"),
	} {
		if len(name) > maxNameBytes {
			return refuse(http.StatusNotFound, "there is no object of a name with %d bytes: it has %d at most; correct it", len(name), maxNameBytes)
		}
		if wrong := rest.IsValidPathSegmentName(name); len(wrong) > 0 {
			return refuse(http.StatusNotFound, "there is no object of the name %q: a name %s; correct it", name, strings.Join(wrong, ", "))
		}
	}
	return nil
}

// number returns a query parameter from 0 to most, or a default.
func (v *visit) number(name string, most, byDefault int) int {
	n, err := strconv.Atoi(v.query(name))
	if err != nil || n < 0 || n > most {
		return byDefault
	}
	return n
}

// link returns a URL with a path of escaped elements and the parameters that are not empty, given as pairs.
func link(elements []string, pairs ...string) string {
	escaped := make([]string, 0, len(elements))
	for _, element := range elements {
		escaped = append(escaped, url.PathEscape(element))
	}
	path := "/" + strings.Join(escaped, "/")
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// with returns the URL of the page with other parameters, given as pairs; an empty value removes one.
func (v *visit) with(pairs ...string) string {
	values := v.request.URL.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			values.Del(pairs[i])
		} else {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	changed := url.URL{Path: v.request.URL.Path, RawPath: v.request.URL.RawPath, RawQuery: values.Encode()}
	return changed.String()
}
