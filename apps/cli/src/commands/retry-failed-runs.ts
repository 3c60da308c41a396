import { setTimeout as pause } from 'node:timers/promises'
import { PerdureError } from '@perdure/client'
import type { ListedRun, RunStatus } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { cliError } from '../cli-error.ts'
import { confirm } from '../confirm.ts'
import { parseInstant } from '../flag-time.ts'

export interface BulkFlags {
  readonly status?: InferOutput<typeof RunStatus>
  readonly since?: string
  readonly agent?: string
  readonly workflow?: string
  readonly code?: string
  readonly forks?: boolean
  readonly yes?: boolean
}

type Found = Pick<InferOutput<typeof ListedRun>, 'id' | 'agentId' | 'workflowId' | 'error'>

interface Retried {
  readonly runId: string
  readonly newRunId?: string
  readonly error?: string
}

const SHOWN = 10
const AT_ONCE = 8
const BUSY_PAUSE_MS = 500

/**
 * Retries every run that matches. The idempotency key of each request names the run, so that a repeated command retries
 * no run twice.
 */
export async function retryFailedRuns(call: Call, flags: BulkFlags): Promise<void> {
  const found = await findRuns(call, flags)
  if (found.length > 0) await confirmRetries(call, flags, found)
  const retried = await retryAll(call, found)
  const refused = retried.filter(({ error }) => error !== undefined)
  call.out.document({ retried: retried.length - refused.length, refused }, () =>
    [
      ...refused.map(({ runId, error }) => `refused ${runId}: ${error}\n`),
      `retried ${retried.length - refused.length} of ${countText(retried.length)}\n`,
    ].join(''),
  )
  if (refused.length === 0) return
  throw cliError('runs-refused', {
    message: `the server refused to retry ${countText(refused.length)}`,
    hint: 'remove the cause and repeat the command: it retries no run twice',
    exit: 'failed',
  })
}

async function findRuns(call: Call, flags: BulkFlags): Promise<readonly Found[]> {
  const { status, since, agent, workflow, code, forks = false } = flags
  const query = {
    ...{ limit: 200, status, code, agentId: agent, workflowId: workflow },
    since: since === undefined ? undefined : parseInstant('since', since, Date.now()),
  }
  const found: Found[] = []
  for await (const { id, agentId, workflowId, error, parentRunId, forkOf } of call.client().runs.list(query)) {
    // The parent of a child run repeats the child. A repeated command must not retry its own retries.
    const isSkipped = parentRunId !== undefined || (forkOf !== undefined && !forks)
    if (!isSkipped) found.push({ id, agentId, workflowId, error })
  }
  return found
}

async function confirmRetries({ terminal }: Call, { yes }: BulkFlags, found: readonly Found[]): Promise<void> {
  const lines = found.slice(0, SHOWN).map(({ id, agentId, workflowId, error }) => {
    return `  ${id}  ${agentId ?? workflowId}  ${error?.code ?? ''}: ${error?.message ?? ''}\n`
  })
  const more = found.length > SHOWN ? `  and ${found.length - SHOWN} more\n` : ''
  await confirm(terminal, {
    yes,
    why: 'runs retry asks before it retries many runs',
    question: `${lines.join('')}${more}Retry ${countText(found.length)}?`,
    refused: 'nothing was retried',
  })
}

async function retryAll(call: Call, found: readonly Found[]): Promise<readonly Retried[]> {
  const retried: Retried[] = []
  const queue = found.map(({ id }) => id).reverse()
  const work = async () => {
    for (let id = queue.pop(); id !== undefined; id = queue.pop()) retried.push(await retryOne(call, id))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return retried
}

async function retryOne(call: Call, runId: string): Promise<Retried> {
  for (;;) {
    try {
      const fork = await call.client().runs.retry(runId, {}, { idempotencyKey: `retry:${runId}` })
      return { runId, newRunId: fork.runId }
    } catch (error) {
      if (!(error instanceof PerdureError) || error.status === undefined) throw error
      if (!BUSY.has(error.code)) return { runId, error: error.message }
      await pause(error.retryAfter ?? BUSY_PAUSE_MS)
    }
  }
}

/** Refusals that end by themselves when runs have started. */
const BUSY: ReadonlySet<string> = new Set(['queue-full', 'rate-limit-exceeded'])

const countText = (count: number) => (count === 1 ? '1 run' : `${count} runs`)
