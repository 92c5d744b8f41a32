// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/logging"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/stopping"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
)

// newRootCommand builds the command tree. started is set as soon as a subcommand begins to run: any error before is one of usage. stop
// cancels the context of the subcommand.
func newRootCommand(started *bool, stop context.CancelFunc) *cobra.Command {
	root := &cobra.Command{
		Use:   programName,
		Short: "Select the clusters that a workload runs on",
		Long: "placement selects ManagedClusters for Placements and writes PlacementDecisions.\n" +
			"It replaces the placement controller of Open Cluster Management.\n\n" + exit.Describe(),
		Args:          noSubcommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			*started = true
			log := stopping.Logger(cmd.Context(), logging.Quiet(klog.NewKlogr()))
			ctrllog.SetLogger(log)
			cmd.SetContext(klog.NewContext(cmd.Context(), log)) // client-go logs with the logger of the context of a request.
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(suggestFlag)
	root.SetGlobalNormalizationFunc(cliflag.WordSepNormalizeFunc)
	root.AddCommand(newControllerCommand(stop), newRunCommand(), newExplainCommand(), newSetsCommand(), newFederatedCommand(), newHistoryCommand(),
		newSimulateCommand(), newTestCommand(), newDiffCommand(), newSnapshotCommand(), newDashboardCommand(), newDebugCommand(stop),
		newProviderCommand(), newArgoCDRefreshCommand(), newManifestsCommand(),
		newUninstallCommand(),
		newVersionCommand())
	return root
}

// execute runs the command line and returns the exit code of the process.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return executeAs(ctx, programName, args, stdout, stderr)
}

// imagePath is where the binary is in our image, as in upstream's.
const imagePath = "/" + programName

// withoutOwnPath drops a first argument that is the path of the program itself. Upstream's image has no entrypoint, so its manifests begin
// their args with "/placement", which the entrypoint of our image is already.
func withoutOwnPath(name string, args []string) []string {
	if isPlugin(name) || len(args) == 0 || (args[0] != imagePath && args[0] != name) {
		return args
	}
	return args[1:]
}

// executeAs runs the command line of a process that was started by name.
func executeAs(ctx context.Context, name string, args []string, stdout, stderr io.Writer) int {
	defer klog.Flush()
	var started bool
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	root := newRootCommand(&started, stop)
	args = asPlugin(root, name, withoutOwnPath(name, args))
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exit.OK
	}
	code := exit.Failure
	var mistake *exit.UsageError
	if coded, is := errors.AsType[*exit.Error](err); is {
		if code = coded.Code; coded.Err == nil {
			return code
		}
	}
	hint := hubflags.HintTimeout(cmd, err)
	if !started || errors.As(err, &mistake) {
		code, hint = exit.Usage, fmt.Sprintf("Run '%s --help' for usage.\n", cmd.CommandPath())
	}
	if _, writeErr := fmt.Fprintf(stderr, "Error: %v\n%s", err, hint); writeErr != nil {
		klog.ErrorS(errors.Join(err, writeErr), "Cannot report the error on stderr")
	}
	return code
}

// onlyFlags rejects positional arguments.
func onlyFlags(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is behind no flag: files are named with -f, each with one of its own, and all else by the flags for it", args[0])
	}
	return nil
}

// noSubcommand rejects an argument that is no command, and suggests those with a similar name.
func noSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", args[0], cmd.CommandPath(), suggest.DidYouMean(args[0], "", names))
}

// suggestFlag adds flags with a similar name to the error about an unknown one.
func suggestFlag(cmd *cobra.Command, err error) error {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	return fmt.Errorf("%w%s", err, suggest.DidYouMean(unknown.GetSpecifiedName(), "--", names))
}
