// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// jsonOutput is the format of the answers that pages ask for.
const jsonOutput = "json"

// allRows is the value of the parameter rows that lists all clusters.
const allRows = "all"

// condition is a condition of a Placement for the page.
type condition struct {
	metav1.Condition

	Tone    document.Tone
	Runbook string
}

// cause is a reason why clusters are not selected.
type cause struct {
	explain.CauseReport

	Of   int
	Link string
}

// summary is the head of the page of a Placement.
type summary struct {
	// Lead has the state, and Head what the explanation says besides.
	Lead       head
	Head       document.Section
	Conditions []condition
	Causes     []cause
	OutOfScope int
	Reason     string
}

// named is the Placement that a URL names.
type named struct {
	adapter         api.Adapter
	namespace, name string
}

// placementOf returns the Placement that the URL of a request names.
func placementOf(v *visit) (named, error) {
	version := cmp.Or(v.query("api"), string(api.V1beta1.Name()))
	adapter, known := api.Find(version)
	if !known {
		return named{}, refuse(http.StatusBadRequest, "api: there is no API %q of Placements; leave it out, or use v1alpha1", version)
	}
	return named{adapter, v.request.PathValue("namespace"), v.request.PathValue("name")}, nil
}

// readable returns an error if the caller may not read the Placement. One that does not exist may be read.
func (n named) readable(ctx context.Context, v *visit) error {
	err := v.reader().Get(ctx, client.ObjectKey{Namespace: n.namespace, Name: n.name}, n.adapter.Empty())
	return client.IgnoreNotFound(err)
}

// question returns a question about the Placement.
func (n named) question(command string) endpoint.Question {
	kind := n.adapter.Kind()
	return endpoint.Question{
		Command: command, Namespace: n.namespace, Objects: []endpoint.Object{{Group: kind.Group, Kind: kind.Kind, Name: n.name}}, Output: jsonOutput,
	}
}

// argument returns the Placement as the commands name it.
func (n named) argument() string {
	text := n.namespace + "/" + n.name
	if n.adapter != api.V1beta1 {
		text += "@" + string(n.adapter.Name())
	}
	return text
}

// path returns the URL of the Placement with a last element.
func (n named) path(last ...string) string {
	version := ""
	if n.adapter != api.V1beta1 {
		version = string(n.adapter.Name())
	}
	return link(append([]string{placementsPath, n.namespace, n.name}, last...), "api", version)
}

// commands print what the page of the Placement shows.
func (n named) commands() []string {
	resource := "placements." + n.adapter.Kind().Group
	return []string{
		"placement explain " + n.argument(), "kubectl get " + resource + " -n " + n.namespace + " " + n.name + " -o yaml",
		"kubectl get placementdecisions -n " + n.namespace + " -l cluster.open-cluster-management.io/placement=" + n.name,
	}
}

// placementPage shows why a Placement selects its clusters.
func placementPage(ctx context.Context, v *visit) (*page, error) {
	asked, err := placementOf(v)
	if err != nil {
		return nil, err
	}
	rows := newRowFilter(v)
	question := Question{Question: asked.question(endpoint.CommandExplain)}
	if !wantsJSON(v.request) { // JSON has all clusters, and no matrix.
		question.Rows = rows.choose
	}
	found, err := v.hub.Explain(ctx, v.caller, question)
	if err != nil {
		return nil, err
	}
	explanation, err := explanationIn(found)
	if err != nil {
		return nil, err
	}
	made := &page{
		Title: asked.argument(), Section: placementsSection, JSON: found, Commands: asked.commands(), Watched: true,
		Crumbs:    crumbsOf(placementsSection, placementsPath, asked.namespace),
		Placement: inventory.NewPlacementKey(asked.adapter.Name(), asked.namespace, asked.name),
	}
	if explanation.ChangesAt != nil {
		made.Until = explanation.ChangesAt.Time
	}
	object := asked.read(ctx, v)
	shown := summaryOf(ctx, v, &explanation.Report, asked, object)
	if until := shown.Lead.until; !until.IsZero() && (made.Until.IsZero() || until.Before(made.Until)) {
		made.Until = until
	}
	made.add("summary", "summary", shown)
	table := rows.matrix(v, explanation)
	table.Picture = asked.path("fleet")
	made.add("matrix", "matrix", table)
	detail, err := clusterDetail(ctx, v, asked)
	if err != nil {
		return nil, err
	}
	made.add("detail", "detail", detail)
	made.add("edit", "edit", editorOf(asked, object))
	if detail.Cluster != "" {
		made.Commands = append(made.Commands, "placement explain "+asked.argument()+" --cluster "+detail.Cluster)
	}
	return made, nil
}

// explanationIn returns the one explanation of an answer.
func explanationIn(found document.Source) (*counterfactual.Explanation, error) {
	explanations, is := found.(*counterfactual.Explanations)
	if !is || len(explanations.Placements) != 1 {
		return nil, refuse(http.StatusNotFound, "there is no such Placement; correct the name, the namespace or the API")
	}
	return &explanations.Placements[0], nil
}

func summaryOf(ctx context.Context, v *visit, report *explain.Report, asked named, object *unstructured.Unstructured) summary {
	// The conditions and the causes have parts of their own.
	text := *report
	text.Conditions = nil
	shown := summary{
		Head: text.Head(document.Options{}), OutOfScope: report.OutOfScope, Reason: report.OutOfScopeReason,
		Conditions: conditionsOf(v, report.Conditions),
	}
	if object == nil {
		shown.Lead = headOf(ctx, v, report, asked, nil)
	} else {
		shown.Lead = headOf(ctx, v, report, asked, object)
	}
	shown.Lead.Text = shown.Head.Headline.String()
	of := 0
	for _, each := range report.Causes {
		of = max(of, each.Clusters)
	}
	for _, each := range report.Causes {
		shown.Causes = append(shown.Causes, cause{
			CauseReport: each, Of: of, Link: v.with("verdict", each.Verdict, "from", "", "cluster", "") + "#matrix",
		})
	}
	return shown
}

// detail is one cluster in full.
type detail struct {
	Cluster  string
	Document document.Document
	Problem  string
	// Close is the URL of the page without the cluster, and Page that of the cluster; empty if the caller may not get it.
	Close, Page string
}

// clusterDetail explains the cluster that the URL names, with the changes that would select it.
func clusterDetail(ctx context.Context, v *visit, asked named) (detail, error) {
	shown := detail{Cluster: v.query("cluster"), Close: v.with("cluster", "")}
	if shown.Cluster == "" {
		return shown, nil
	}
	ctx, cancel := context.WithTimeout(ctx, whatIfTimeout)
	defer cancel()
	question := asked.question(endpoint.CommandExplain)
	question.Clusters = []string{shown.Cluster}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: question})
	var answered *endpoint.AnswerError
	switch {
	case ctx.Err() != nil:
		shown.Problem = "the search for changes took longer than " + whatIfTimeout.String() + "; ask placement explain --cluster"
		return shown, nil
	case errors.As(err, &answered):
		shown.Problem = answered.Error()
		return shown, nil
	case err != nil:
		return shown, err
	}
	explanation, err := explanationIn(found)
	if err != nil {
		return shown, err
	}
	if err := v.reader().Get(ctx, client.ObjectKey{Name: shown.Cluster}, &clusterv1.ManagedCluster{}); !apierrors.IsForbidden(err) {
		shown.Page = link([]string{clustersPath, shown.Cluster})
	}
	explained := counterfactual.Explanations{Placements: []counterfactual.Explanation{*explanation}}
	shown.Document = explained.Document(document.Options{Scores: true})
	if len(shown.Document.Sections) > 1 { // The first section is the head, and the second has the name as its title: the page has both above.
		shown.Document.Sections = shown.Document.Sections[1:]
		shown.Document.Sections[0].Title = ""
	}
	return shown, nil
}

// editor is the form in which a Placement is edited to see what would change.
type editor struct {
	Manifest string
	Action   string
}

// read returns the Placement; nil if the caller may not get it, for whom the page is shown without what it says.
func (n named) read(ctx context.Context, v *visit) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(n.adapter.Kind())
	if err := v.reader().Get(ctx, client.ObjectKey{Namespace: n.namespace, Name: n.name}, object); err != nil {
		return nil
	}
	return object
}

// editorOf returns the form with the Placement as it is; empty if the caller may not get it.
func editorOf(asked named, object *unstructured.Unstructured) editor {
	if object == nil {
		return editor{}
	}
	annotations := object.GetAnnotations()
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(),
		"metadata": metadataOf(object.GetNamespace(), object.GetName(), object.GetLabels(), annotations), "spec": object.Object["spec"],
	})
	if err != nil {
		return editor{}
	}
	return editor{Manifest: string(text), Action: asked.path("preview")}
}

func metadataOf(namespace, name string, labels, annotations map[string]string) map[string]any {
	metadata := map[string]any{"namespace": namespace, "name": name}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return metadata
}

// preview is the JSON of a preview.
type preview struct {
	Difference document.Source   `json:"difference"`
	Document   document.Document `json:"-"`
	Editor     editor            `json:"-"`
	Back       string            `json:"-"`
	Title      string            `json:"-"`
	Differs    bool              `json:"differs"`
}

// previewPage shows what an edited Placement would change, without applying it.
func previewPage(ctx context.Context, v *visit) (*page, error) {
	asked, err := placementOf(v)
	if err != nil {
		return nil, err
	}
	manifest, err := manifestOf(v.request)
	if err != nil {
		return nil, err
	}
	kinds, err := listable(ctx, v, asked.namespace)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, whatIfTimeout)
	defer cancel()
	question := asked.question(endpoint.CommandDiff)
	question.Manifests = manifest
	question.Kinds = kinds
	made := &page{
		Title: "Preview of " + asked.argument(), Section: placementsSection, Commands: []string{"placement diff -f FILE"},
		Crumbs: append(crumbsOf(placementsSection, placementsPath, asked.namespace), crumb{Text: asked.name, Link: asked.path()}),
	}
	edited := editor{Manifest: manifest, Action: asked.path("preview")}
	if len(manifest) > maxEchoBytes {
		edited.Manifest = "# The Placement is too large to be shown again: go back to edit it.\n"
	}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: question})
	if answered, is := errors.AsType[*endpoint.AnswerError](err); is {
		// The hub reports mistakes before it reviews rights. The edited Placement is shown only to users who may read the Placement.
		if err := asked.readable(ctx, v); err != nil {
			return nil, err
		}
		made.Code, made.JSON = http.StatusUnprocessableEntity, map[string]string{"error": answered.Error()}
		made.add("problem", "invalid", answered.Error())
		made.add("edit", "edit", edited)
		return made, nil
	}
	if err != nil {
		return nil, err
	}
	shown := preview{Difference: found, Document: found.Document(document.Options{}), Editor: edited, Back: asked.path(), Title: asked.argument()}
	if differences, is := found.(*explain.Differences); is {
		shown.Differs = differences.Differ()
	}
	made.JSON = shown
	made.add("preview", "preview", shown)
	made.add("edit", "edit", edited)
	return made, nil
}

// manifestOf returns the edited object of a form, or of a body in YAML or JSON.
func manifestOf(request *http.Request) (string, error) {
	kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
	var manifest string
	var err error
	switch kind {
	case "application/x-www-form-urlencoded":
		err = request.ParseForm()
		manifest = request.PostForm.Get("manifest")
	case "application/yaml", "application/json":
		manifest, err = readText(request.Body)
	default:
		return "", refuse(http.StatusUnsupportedMediaType, "Content-Type: send the Placement as application/yaml or application/json")
	}
	switch {
	case err != nil:
		return "", refuse(http.StatusBadRequest, "the Placement could not be read: %s; send it again", err)
	case strings.TrimSpace(manifest) == "":
		return "", refuse(http.StatusBadRequest, "send the Placement that would be applied")
	}
	return strings.ReplaceAll(manifest, "\r\n", "\n"), nil
}

// rowFilter selects the rows of the matrix.
type rowFilter struct {
	verdict, name string
	from, count   int
	all           bool
	// matching is the number of clusters that match, and verdicts counts the clusters of a report by verdict.
	matching int
	verdicts []verdictCount
	// chosen reports that the clusters of a report were chosen.
	chosen bool
}

// verdictCount counts the clusters with a verdict.
type verdictCount struct {
	Verdict string
	Tone    document.Tone
	Count   int
	Link    string
	Current bool
}

func newRowFilter(v *visit) *rowFilter {
	const most = 1 << 24
	return &rowFilter{
		verdict: v.query("verdict"), name: strings.ToLower(v.query("name")), from: v.number("from", most, 0),
		count: v.number("rows", most, lists.RowsShown),
		all:   v.query("rows") == allRows,
	}
}

// choose returns the clusters of a report that the page shows. They are in the order of the report: selected ones first.
func (f *rowFilter) choose(report *explain.Report) []explain.ClusterReport {
	f.chosen = true
	var shown []explain.ClusterReport
	for i := range report.Clusters {
		cluster := &report.Clusters[i]
		f.countVerdict(cluster.Verdict)
		if f.verdict != "" && f.verdict != cluster.Verdict || f.name != "" && !strings.Contains(strings.ToLower(cluster.Name), f.name) {
			continue
		}
		if f.all || f.from <= f.matching && f.matching < f.from+f.count {
			shown = append(shown, *cluster)
		}
		f.matching++
	}
	if !f.all {
		f.from = min(f.from, f.matching)
	}
	return shown
}

func (f *rowFilter) countVerdict(verdict string) {
	at := slices.IndexFunc(f.verdicts, func(count verdictCount) bool { return count.Verdict == verdict })
	if at < 0 {
		f.verdicts = append(f.verdicts, verdictCount{Verdict: verdict, Tone: document.VerdictTone(verdict)})
		at = len(f.verdicts) - 1
	}
	f.verdicts[at].Count++
}

// links completes the counts of the verdicts.
func (f *rowFilter) links(v *visit) []verdictCount {
	for i := range f.verdicts {
		each := &f.verdicts[i]
		each.Current = each.Verdict == f.verdict
		each.Link = v.with("verdict", each.Verdict, "from", "") + "#matrix"
		if each.Current {
			each.Link = v.with("verdict", "", "from", "") + "#matrix"
		}
	}
	return f.verdicts
}

// detailLink returns the URL of a page with a cluster in full, without the name of the cluster at its end.
func detailLink(without string) string {
	separator := "?"
	if strings.Contains(without, "?") {
		separator = "&"
	}
	return without + separator + "cluster="
}

// inDetail returns the URL of a cluster in full.
func inDetail(base, cluster string) string { return base + url.QueryEscape(cluster) + "#detail" }

// verdictOf returns the verdict, or "no answer" if there is none.
func verdictOf(verdict string) string { return cmp.Or(verdict, "no answer") }
