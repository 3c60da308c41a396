import type { RunRecord } from '@perdure/ports'

/** Whether the run is an agent's turn of a session, and not the child of another run. */
export const isTurn = ({
  kind,
  sessionId,
  parentRunId,
}: Pick<RunRecord, 'kind' | 'sessionId' | 'parentRunId'>): boolean =>
  kind === 'agent' && sessionId !== undefined && parentRunId === undefined

/** Whether a message of a user has started the turn, and neither a trigger nor a repetition of another run. */
export const isMessage = (
  run: Pick<RunRecord, 'kind' | 'sessionId' | 'parentRunId' | 'forkOf' | 'triggerId'>,
): boolean => isTurn(run) && run.forkOf === undefined && run.triggerId === undefined

interface Created {
  readonly id: string
  readonly createdAt: number
}

/** Whether a turn of a session was created before another one, of the turns that are not newer. */
export const isBefore = (turn: Created, { id, createdAt }: Created): boolean =>
  turn.createdAt < createdAt || turn.id < id
