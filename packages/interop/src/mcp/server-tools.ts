/** A tool as `tools/list` shows it. */
export interface ToolDescription {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, boolean>>
}

const RUN_ID = { type: 'string', description: 'Id of the run, from an earlier result.' }

export const MAX_WAIT_MS = 50_000

/**
 * The tools besides agents and workflows. Deciding an approval is not among them: a model must not approve its own
 * action.
 */
export const SERVER_TOOLS: readonly ToolDescription[] = [
  {
    name: 'perdure_run_wait',
    description: 'Wait for a run that an earlier call has started, and get its result.',
    inputSchema: {
      type: 'object',
      properties: {
        runId: RUN_ID,
        waitMs: {
          type: 'integer',
          minimum: 0,
          maximum: MAX_WAIT_MS,
          description: 'How long to wait, in milliseconds.',
        },
      },
      required: ['runId'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'perdure_run_cancel',
    description: 'Abort a run that an earlier call has started.',
    inputSchema: { type: 'object', properties: { runId: RUN_ID }, required: ['runId'] },
    annotations: { destructiveHint: true, idempotentHint: true },
  },
  {
    name: 'perdure_approvals',
    description: 'List the decisions that runs wait for. A person decides them, not the model.',
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnlyHint: true },
  },
]
