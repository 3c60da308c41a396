import { checkTriggers, type Hook, type Hooks, targetsOf } from '@perdure/core'
import { type CronSchedule, type HookVerifiers, StartError } from '@perdure/ports'
import type { HookConfig } from '@perdure/protocol'
import type { LifecycleParts } from './lifecycle-parts.ts'
import { type ResolveReferencesDeps, resolveSecret } from './resolve-references.ts'

type OpenHooksDeps = ResolveReferencesDeps & {
  readonly hookVerifiers: HookVerifiers
  readonly cronSchedule: CronSchedule
}

/**
 * Opens the hooks of the configuration and checks the triggers, those of the hooks among them.
 *
 * @throws StartError `config-invalid`, `secret-unresolvable`
 */
export async function openHooksAndTriggers(
  { config, agents, workflows, triggers }: Pick<LifecycleParts, 'config' | 'agents' | 'workflows' | 'triggers'>,
  deps: OpenHooksDeps,
): Promise<Hooks> {
  const hooks = await openHooks(config.webhooks.in, deps)
  await checkTriggers({ ...deps, targets: targetsOf(agents, workflows), hooks }, triggers)
  return hooks
}

/**
 * Resolves the secrets of the hooks and prepares the verification of their requests. Opens no connection.
 *
 * @throws StartError `config-invalid`, `secret-unresolvable`
 */
async function openHooks(configs: readonly HookConfig[], deps: OpenHooksDeps): Promise<Hooks> {
  const hooks = new Map<string, Hook>()
  for (const [index, config] of configs.entries()) hooks.set(config.id, await openHook(config, index, deps))
  return hooks
}

async function openHook(
  { id, verify, to, headers, secretRef = [], toleranceSeconds }: HookConfig,
  index: number,
  deps: OpenHooksDeps,
): Promise<Hook> {
  const field = `webhooks.in.${index}.secretRef`
  const secretRefs = typeof secretRef === 'string' ? [secretRef] : secretRef
  const secrets: string[] = []
  for (const reference of secretRefs) secrets.push(textOf(await resolveSecret(deps, field, reference)))
  try {
    if (secrets.includes('')) throw new Error('the secret is blank')
    const verifier = deps.hookVerifiers.open({ verify, secrets, toleranceSeconds })
    return { id, verify, to, headers, secretRefs, verifier }
  } catch (cause) {
    throw new StartError('config-invalid', {
      message: `${field}: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: `set it to the secret that the sender of the hook ${id} uses`,
      cause,
    })
  }
}

/** A file usually ends with a line break, which is no part of the secret. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes).trim()
