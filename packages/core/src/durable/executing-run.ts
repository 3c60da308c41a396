import { EXECUTING_RUN, type ExecutingRun } from '@perdure/ports'

/** The run whose code called this function; `undefined` outside of every run, and where the runtime cannot tell. */
export function executingRun(): ExecutingRun | undefined {
  const holder = globalThis as { readonly [EXECUTING_RUN]?: { getStore(): ExecutingRun | undefined } }
  const executing = holder[EXECUTING_RUN]?.getStore()
  return executing?.context === undefined ? undefined : executing
}
