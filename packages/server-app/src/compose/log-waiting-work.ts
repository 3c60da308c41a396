import type { Logger } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'

/** Logs which work this server leaves to a later start. */
export function logWaitingWork({ triggers, webhooks }: Pick<ServerConfig, 'triggers' | 'webhooks'>, logger: Logger) {
  if (!triggers.enabled) logger.warn('triggers.enabled is false: no trigger fires until a start with it')
  if (!webhooks.enabled) logger.warn('webhooks.enabled is false: deliveries wait for a start with it')
}
