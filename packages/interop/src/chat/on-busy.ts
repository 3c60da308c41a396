import { isFields, type OnBusy } from '@perdure/core'
import { perdureError } from '@perdure/ports'
import { ON_BUSY } from '@perdure/protocol'

const CHOICES: readonly unknown[] = ON_BUSY

/**
 * What a message does while the agent is busy.
 *
 * @param where names the object in the error
 * @throws PerdureError `validation-failed`
 */
export function onBusyIn(settings: unknown, where: string): OnBusy | undefined {
  const onBusy = isFields(settings) ? settings.onBusy : undefined
  if (onBusy === undefined || CHOICES.includes(onBusy)) return onBusy as OnBusy | undefined
  throw perdureError('validation-failed', {
    message: `onBusy in the ${where} must be one of ${CHOICES.join(', ')}`,
    hint: 'send a choice of the agent: GET /agents/:agentId lists them as onBusyChoices',
  })
}
