import { type EpochMs, fromJsonText, type JsonText, type RunRecord } from '@berth/ports'
import { jsonObject } from '../json-members.ts'
import type { Reply } from '../reply.ts'
import { runSubject } from './run-events.ts'

interface RunLinks {
  readonly self: string
  readonly events: string
}

const linksOf = (basePath: string, runId: string): RunLinks => ({
  self: `${basePath}/runs/${runId}`,
  events: `${basePath}/runs/${runId}/events`,
})

/** What a run came to, or where it stands: the body of every answer that starts or awaits one. */
export function renderOutcome(run: RunRecord, basePath: string, position?: number): JsonText {
  const { id, status, finishReason, error, usage, sessionId } = run
  return jsonObject(
    {
      runId: id,
      status,
      finishReason: finishReason ?? null,
      error,
      usage,
      sessionId: sessionId ?? null,
      position,
      subject: runSubject(run),
      links: linksOf(basePath, id),
    },
    { result: run.result },
  )
}

export const outcomeReply = (run: RunRecord, basePath: string): Reply => ({
  status: 200,
  json: renderOutcome(run, basePath),
  runId: run.id,
})

export const acceptedReply = (run: RunRecord, basePath: string, position?: number): Reply => ({
  status: 202,
  json: renderOutcome(run, basePath, position),
  location: linksOf(basePath, run.id).self,
  runId: run.id,
})

/** The run as the API shows it. */
export function toRunResource(run: RunRecord, basePath: string) {
  const { targetId, input, result, timeoutMs: _, createdAt, startedAt, suspendedAt, completedAt, ...rest } = run
  return {
    ...rest,
    ...(run.kind === 'agent' ? { agentId: targetId } : { workflowId: targetId }),
    finishReason: run.finishReason ?? null,
    input: fromJsonText(input),
    result: result === undefined ? undefined : fromJsonText(result),
    createdAt: toIso(createdAt),
    startedAt: startedAt && toIso(startedAt),
    suspendedAt: suspendedAt && toIso(suspendedAt),
    completedAt: completedAt && toIso(completedAt),
    links: linksOf(basePath, run.id),
  }
}

export type RunResource = ReturnType<typeof toRunResource>

const toIso = (at: EpochMs) => new Date(at).toISOString()
