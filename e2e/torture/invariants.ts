import { withCopy } from './database-copy.ts'
import type { Verify } from './deeds.ts'
import { everyItem, expectSame } from './run-checks.ts'
import { type Kept, pause, type World } from './world.ts'

const GRACE_MS = 60_000

/** After the last start: everything that was acknowledged, whole and once. Adds what is wrong to the violations. */
export async function checkInvariants(world: World, verifies: readonly Verify[]): Promise<void> {
  await checkNothingActive(world)
  await inParts(verifies, (verify) => verify())
  await inParts([...world.kept.values()], (kept) => checkKept(world, kept))
  await checkAudit(world)
  checkNoRequestExecuting(world)
}

/** I5: no run stays active, given the grace. */
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

function checkNoRequestExecuting(world: World): void {
  const keys = withCopy(world.databasePath, (database) =>
    database.prepare('SELECT id, run_id FROM idempotency WHERE status IS NULL').all(),
  )
  if (keys.length > 0) world.violate('I5', `keys are in flight: ${JSON.stringify(keys)}`)
}

/** I4: one key, one answer, in everything that was ever read and once more now. */
async function checkKept(world: World, { ask, answers, isGone }: Kept): Promise<void> {
  const { status, text, isReplayed } = await world.ask(ask)
  if (isGone) return expectSame(world, 'I4', `the key ${ask.key} of a deleted session`, [404, status])
  const seen = new Set([...answers.map((answer) => `${answer.status} ${answer.text}`), `${status} ${text}`])
  if (seen.size !== 1) world.violate('I4', `the key ${ask.key} was answered ${[...seen].join(' and ')}`)
  if (!isReplayed) world.violate('I4', `the key ${ask.key} was forgotten`)
}

/** I7: the chain is whole, and it has a link for every privileged deed that was acknowledged. */
async function checkAudit(world: World): Promise<void> {
  const { body, text } = await world.ask({ path: '/audit/verify' })
  if (!body.ok) world.violate('I7', text)
  const links = await everyItem(world, '/audit')
  const allowed = links.filter(({ decision }) => decision === 'allowed')
  const deeds = new Set(allowed.map(({ action, target }) => `${action} ${target}`))
  for (const { ask, answers } of world.kept.values()) {
    const deed = deedOf(ask, answers[0]?.body.id)
    if (deed === undefined) continue
    if (!deeds.has(deed)) world.violate('I7', `${deed} (key ${ask.key}) has no link`)
  }
  expectSame(world, 'I7', 'entries of the chain', [links.length > 0, true])
}

/** The link that a privileged request leaves: its action and what it was done to. */
function deedOf({ method = 'POST', path }: Kept['ask'], id: string | undefined): string | undefined {
  const [, group, of, verb] = path.split('/')
  if (verb === 'rotate') return `tokens.rotate ${of}`
  if (group === 'tokens') return method === 'DELETE' ? `tokens.revoke ${of}` : `tokens.create ${id}`
  if (group === 'approvals' && verb === 'resolve') return `approvals.resolve ${of}`
  if (group === 'triggers' && verb === 'fire') return `triggers.fire ${of}`
  return undefined
}

const LANES = 8

async function inParts<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const lane = async () => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
