import { fromJsonText, type ListedRun } from '@perdure/ports'

/** A message that waits for its agent, as the API shows it. */
export const toQueuedMessage = (run: ListedRun<'input'>) => {
  const { id: runId, targetId: agentId, input, flow, metadata, createdAt } = run
  const onBusy = flow?.onBusy ?? ('queue' as const)
  return {
    runId,
    agentId,
    content: fromJsonText(input),
    onBusy,
    metadata,
    createdAt: new Date(createdAt).toISOString(),
  }
}

export type QueuedMessageResource = ReturnType<typeof toQueuedMessage>
