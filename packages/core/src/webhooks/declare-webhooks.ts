import {
  type Clock,
  type Digest,
  type EventLog,
  type Logger,
  StartError,
  type UnitOfWork,
  type WebhookRecord,
  type WebhookStore,
  type Write,
} from '@perdure/ports'
import { CONFLICT, retryConflicts } from '../concurrency/retry-conflicts.ts'
import { type Redeclared, replacesStored, supersededBy, undeclaredStep } from '../declarations/declared-row.ts'
import {
  fingerprintOf,
  type LivingDeclarationsDeps,
  type OtherDeclarations,
  readOtherDeclarations,
} from '../declarations/living-declarations.ts'

/** The members that the configuration declares. Every other member is the state of the stored webhook. */
const DECLARED = ['id', 'url', 'events', 'targets', 'owner', 'secrets'] as const satisfies (keyof WebhookRecord)[]

/** A webhook of the configuration. */
export type ConfiguredWebhook = Pick<WebhookRecord, (typeof DECLARED)[number]>

/** The declared members, also those that are `undefined`. */
const definitionOf = (webhook: ConfiguredWebhook) =>
  Object.fromEntries(DECLARED.map((member) => [member, webhook[member]]))

export interface DeclareWebhooksDeps extends LivingDeclarationsDeps {
  readonly webhooks: WebhookStore
  readonly events: Pick<EventLog, 'head'>
  readonly unitOfWork: UnitOfWork
  readonly clock: Clock
  readonly digest: Pick<Digest, 'sha256'>
  readonly logger: Logger
  /** Whether another process may send deliveries of this storage. */
  readonly isStorageShared: boolean
  /** How long a webhook works that no living process declares. */
  readonly undeclaredMs: number
}

/**
 * Stores the webhooks of the configuration. A known webhook continues where it stopped; a new one receives the events
 * from now on. Writes nothing when nothing has changed. A webhook that no living process declares is deleted after a
 * grace period; until then it works, so that a server that starts with an earlier configuration loses no delivery.
 *
 * @throws StartError `config-invalid` if a webhook of the API has the id of one of the configuration
 */
export async function declareWebhooks(
  deps: DeclareWebhooksDeps,
  configured: readonly ConfiguredWebhook[],
): Promise<void> {
  await retryConflicts(async () => {
    const stored = await deps.webhooks.list()
    if (stored.length === 0 && configured.length === 0) return undefined
    refuseTakenIds(stored, configured)
    const others = await readOtherDeclarations(deps)
    const { position } = await deps.events.head()
    const declared = configured.flatMap((webhook) => declarationWrites(deps, { webhook, stored, others, position }))
    const writes = [...declared, ...undeclaredWrites(deps, { stored, configured, others })]
    if (!deps.isStorageShared) writes.push({ type: 'delivery.release', now: deps.clock.now() })
    if (writes.length === 0) return undefined
    return (await deps.unitOfWork.commit(writes)).committed ? undefined : CONFLICT
  })
}

/** Compares the stored webhooks with what the living processes declare by now. A conflict leaves them to the next call. */
export async function redeclareWebhooks(
  deps: DeclareWebhooksDeps,
  configured: readonly ConfiguredWebhook[],
): Promise<void> {
  const stored = (await deps.webhooks.list()).filter(({ source }) => source === 'code')
  if (stored.length === 0) return
  const others = await readOtherDeclarations(deps)
  const known = configured.filter(({ id }) => stored.some((one) => one.id === id))
  const declared = known.flatMap((webhook) => declarationWrites(deps, { webhook, stored, others, position: 0 }))
  const writes = [...declared, ...undeclaredWrites(deps, { stored, configured, others })]
  if (writes.length > 0) await deps.unitOfWork.commit(writes)
}

function refuseTakenIds(stored: readonly WebhookRecord[], configured: readonly ConfiguredWebhook[]): void {
  const taken = stored.find(({ id, source }) => source === 'api' && configured.some((one) => one.id === id))
  if (taken === undefined) return
  throw new StartError('config-invalid', {
    message: `webhookEndpoints: the id ${taken.id} belongs to a webhook that was created over the API`,
    hint: `use another id in webhookEndpoints, or delete that webhook first with DELETE /webhooks/${taken.id}`,
  })
}

interface Declaration {
  readonly webhook: ConfiguredWebhook
  readonly stored: readonly WebhookRecord[]
  readonly others: OtherDeclarations
  readonly position: number
}

function declarationWrites(
  { clock, digest, logger }: DeclareWebhooksDeps,
  { webhook, stored, others, position }: Declaration,
): readonly Write[] {
  const known = stored.find(({ id }) => id === webhook.id)
  if (known === undefined) {
    const created = { position, createdBy: '', version: 1, createdAt: clock.now() }
    return [{ type: 'webhook.insert', webhook: { ...webhook, source: 'code', ...created } }]
  }
  const redeclared: Redeclared = {
    ...{ noun: 'webhook', row: known, stored: webhookFingerprint(digest, known) },
    declared: webhookFingerprint(digest, webhook),
  }
  if (redeclared.stored === redeclared.declared) return []
  if (!replacesStored(redeclared, others)) {
    logger.debug('another server declares a newer definition of the webhook, which stays in use', {
      webhookId: known.id,
    })
    return []
  }
  const { undeclaredAt, ...declared } = { ...known, ...definitionOf(webhook) }
  const replaced = { ...declared, superseded: supersededBy(redeclared), version: known.version + 1 }
  return [{ type: 'webhook.replace', webhook: replaced }]
}

interface Undeclared {
  readonly stored: readonly WebhookRecord[]
  readonly configured: readonly ConfiguredWebhook[]
  readonly others: OtherDeclarations
}

/** Only for webhooks whose definition stays as it is: a replaced one is declared. */
function undeclaredWrites(deps: DeclareWebhooksDeps, { stored, configured, others }: Undeclared): readonly Write[] {
  const { clock, undeclaredMs, digest, logger } = deps
  const now = clock.now()
  return stored.flatMap((webhook): readonly Write[] => {
    if (webhook.source !== 'code') return []
    const own = configured.find(({ id }) => id === webhook.id)
    if (own !== undefined && webhookFingerprint(digest, own) !== webhookFingerprint(digest, webhook)) return []
    const isDeclared = own !== undefined || others.has('webhook', webhook.id)
    const step = undeclaredStep(webhook, isDeclared, { now, graceMs: undeclaredMs })
    if (step === 'none') return []
    const { undeclaredAt, ...declared } = webhook
    const version = webhook.version + 1
    if (step === 'clear') return [{ type: 'webhook.replace', webhook: { ...declared, version } }]
    const fields = { webhookId: webhook.id, graceSeconds: Math.round(undeclaredMs / 1_000) }
    if (step === 'mark') {
      logger.warn('no running server declares the webhook; it is removed after the grace period', fields)
      return [{ type: 'webhook.replace', webhook: { ...declared, undeclaredAt: now, version } }]
    }
    logger.warn('removed a webhook that no running server declares, with its deliveries', fields)
    // The replacement conflicts if the webhook has changed since it was read, for example because it is declared again.
    return [
      { type: 'webhook.replace', webhook: { ...webhook, version } },
      { type: 'webhook.delete', id: webhook.id },
    ]
  })
}

/** The definition of a webhook of the configuration. */
export const webhookFingerprint = (digest: Pick<Digest, 'sha256'>, webhook: ConfiguredWebhook): string =>
  fingerprintOf(digest, definitionOf(webhook))
