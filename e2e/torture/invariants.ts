import type { Verify } from './client-actions.ts'
import { everyItem, expectSame } from './run-checks.ts'
import { pause, type RecordedRequest, type World } from './world.ts'

const GRACE_MS = 60_000

/**
 * Checks, after the last start, that everything acknowledged is complete and happened once. Adds what is wrong to the
 * violations.
 */
export async function checkInvariants(world: World, verifies: readonly Verify[]): Promise<void> {
  await checkNothingActive(world)
  await forEachConcurrently(verifies, (verify) => verify())
  await forEachConcurrently([...world.recorded.values()], (recorded) => checkRecordedAnswer(world, recorded))
  await checkAudit(world)
  await checkNoRequestExecuting(world)
}

/** I5: no run stays active after the grace period. */
async function checkNothingActive(world: World): Promise<void> {
  const deadline = performance.now() + GRACE_MS
  for (const status of ['running', 'queued']) {
    for (;;) {
      const { body } = await world.ask({ method: 'GET', path: `/runs?status=${status}` })
      if (body.items.length === 0) break
      if (performance.now() > deadline) {
        world.violate('I5', `${body.items.length} runs are ${status}: ${body.items.map(({ id }) => id)}`)
        break
      }
      await pause(50)
    }
  }
}

async function checkNoRequestExecuting(world: World): Promise<void> {
  const keys = await world.inspection.executingKeys()
  if (keys.length > 0) world.violate('I5', `keys are in flight: ${keys}`)
}

/** I4: every answer ever received for a key is identical, and one more request now gets the same answer. */
async function checkRecordedAnswer(world: World, { ask, answers, isGone }: RecordedRequest): Promise<void> {
  const { status, text, isReplayed } = await world.ask(ask)
  if (isGone) return expectSame(world, 'I4', `the key ${ask.key} of a deleted session`, [404, status])
  const seen = new Set([...answers.map((answer) => `${answer.status} ${answer.text}`), `${status} ${text}`])
  if (seen.size !== 1) world.violate('I4', `the key ${ask.key} was answered ${[...seen].join(' and ')}`)
  if (!isReplayed) world.violate('I4', `the key ${ask.key} was forgotten`)
}

/** I7: the audit chain is complete and has an entry for every acknowledged privileged action. */
async function checkAudit(world: World): Promise<void> {
  const { body, text } = await world.ask({ path: '/audit/verify' })
  if (!body.ok) world.violate('I7', text)
  const links = await everyItem(world, '/audit')
  const allowed = links.filter(({ decision }) => decision === 'allowed')
  const auditKeys = new Set(allowed.map(({ action, target }) => `${action} ${target}`))
  for (const { ask, answers } of world.recorded.values()) {
    const auditKey = auditKeyOf(ask, answers[0]?.body.id)
    if (auditKey === undefined) continue
    if (!auditKeys.has(auditKey)) world.violate('I7', `${auditKey} (key ${ask.key}) has no audit entry`)
  }
  expectSame(world, 'I7', 'audit entries', [links.length > 0, true])
}

/** The audit entry that a privileged request must leave: action and target. */
function auditKeyOf({ method = 'POST', path }: RecordedRequest['ask'], id: string | undefined): string | undefined {
  const [, group, of, verb] = path.split('/')
  if (verb === 'rotate') return `tokens.rotate ${of}`
  if (group === 'tokens') return method === 'DELETE' ? `tokens.revoke ${of}` : `tokens.create ${id}`
  if (group === 'approvals' && verb === 'resolve') return `approvals.resolve ${of}`
  if (group === 'triggers' && verb === 'fire') return `triggers.fire ${of}`
  return undefined
}

const LANES = 8

async function forEachConcurrently<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const lane = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
