import { type ConfiguredWebhook, EVERY_OWNER, webhookKeyOf } from '@perdure/core'
import { StartError, type WebhookSender } from '@perdure/ports'
import { OperatorId, SecretReference, WebhookEvents, WebhookOwner, WebhookTargets, WebhookUrl } from '@perdure/protocol'
import * as v from 'valibot'
import { type ResolveReferencesDeps, resolveSecret } from './resolve-references.ts'

const Endpoint = v.strictObject({
  id: OperatorId,
  url: WebhookUrl,
  secretRef: SecretReference,
  previousSecretRef: v.optional(SecretReference),
  events: v.optional(WebhookEvents, ['*']),
  targets: v.optional(WebhookTargets),
  owner: v.optional(WebhookOwner),
})

/**
 * A webhook of the configuration. `secretRef` refers to the secret that signs the deliveries, in the form `whsec_…`;
 * `previousSecretRef` to an earlier secret that also signs them. `events` are types or patterns such as `run.*`.
 * `targets` are ids of agents and workflows, and `owner` is the subject that owns their runs; by default, all. The owner
 * `*` also stands for all.
 */
export type WebhookRegistration = v.InferInput<typeof Endpoint>

/** @throws StartError `config-invalid` that names the member at fault */
export function readWebhookEndpoints(registrations: readonly WebhookRegistration[]): readonly ConfiguredWebhook[] {
  const ids = new Set<string>()
  return registrations.map((registration, index) => {
    const parsed = v.safeParse(Endpoint, registration)
    if (!parsed.success) {
      const [issue] = parsed.issues
      const path = v.getDotPath(issue) ?? 'registration'
      throw invalid(index, issue.expected === 'never' ? `${path}: unknown member` : `${path}: ${issue.message}`)
    }
    const { id, secretRef, previousSecretRef, owner, ...endpoint } = parsed.output
    if (ids.has(id)) throw invalid(index, `id: ${id} is registered twice`)
    ids.add(id)
    const secrets = [{ ref: secretRef }, ...(previousSecretRef === undefined ? [] : [{ ref: previousSecretRef }])]
    return { id, ...endpoint, ...(owner === undefined || owner === EVERY_OWNER ? {} : { owner }), secrets }
  })
}

/**
 * Checks the addresses and the secrets of the endpoints.
 *
 * @throws StartError `config-invalid`, `secret-unresolvable`
 */
export async function checkWebhookEndpoints(
  webhooks: readonly ConfiguredWebhook[],
  sender: Pick<WebhookSender, 'refusalOf'>,
  deps: ResolveReferencesDeps,
): Promise<void> {
  for (const [index, { id, url, secrets }] of webhooks.entries()) {
    const refusal = sender.refusalOf(url)
    if (refusal !== undefined)
      throw invalid(index, `url: ${refusal}`, 'use a public https: address, or add the host to webhooks.allowHosts')
    for (const [place, { ref }] of secrets.entries()) {
      const secret = await resolveSecret(deps, `webhookEndpoints ${id}`, ref ?? '')
      if (webhookKeyOf(new TextDecoder().decode(secret)) !== undefined) continue
      const hint = 'generate one: echo "whsec_$(openssl rand -base64 32)"'
      const member = place === 0 ? 'secretRef' : 'previousSecretRef'
      throw invalid(index, `${member}: the value of ${ref} is not whsec_ followed by 24 to 64 bytes in base64`, hint)
    }
  }
}

const invalid = (index: number, message: string, hint = 'register { id, url, secretRef, events }') =>
  new StartError('config-invalid', { message: `webhookEndpoints.${index}: ${message}`, hint })
