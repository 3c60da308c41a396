import type { DescriptorUse } from '@perdure/platform-node'
import { isDescriptorShortage, type Logger, StartError } from '@perdure/ports'

/** Descriptors that connections never take: they are for the database, modules, tools and outgoing connections. */
export const RESERVED_DESCRIPTORS = 64
/** Includes what a start opens, and room for some connections. */
export const MIN_FREE_DESCRIPTORS = RESERVED_DESCRIPTORS + 32
const MIN_CONNECTIONS = 8
const FEW_DESCRIPTORS = 24

/** @throws StartError `descriptor-limit` if the process may open too few files to start and to serve */
export function checkDescriptors(use: DescriptorUse | undefined): void {
  if (use === undefined || use.limit - use.open >= MIN_FREE_DESCRIPTORS) return
  throw descriptorLimit(use)
}

/**
 * Returns how many connections the server may accept: at most `configured`, and so few that a reserve of descriptors
 * stays free. Warns if the limit on open files decides.
 *
 * @throws StartError `descriptor-limit`
 */
export function affordableConnections(
  configured: number,
  use: DescriptorUse | undefined,
  logger: Pick<Logger, 'warn'>,
): number {
  if (use === undefined) return configured
  const affordable = use.limit - use.open - RESERVED_DESCRIPTORS
  if (affordable < MIN_CONNECTIONS) throw descriptorLimit(use)
  if (affordable >= configured) return configured
  logger.warn('the limit on open files lowers server.maxConnections; raise it with ulimit -n or LimitNOFILE', {
    ...{ openFiles: use.limit, maxConnections: affordable, configured },
  })
  return affordable
}

/**
 * Returns the error of a failed start. Without a free descriptor nearly every step fails, each with its own error:
 * such errors are replaced.
 */
export function startErrorOf(errors: readonly unknown[], readUse: () => DescriptorUse | undefined): unknown {
  const [error] = errors
  if (error instanceof StartError && error.kind === 'descriptor-limit') return error
  let use: DescriptorUse | undefined
  try {
    use = readUse()
  } catch {
    return descriptorLimit(undefined, error)
  }
  const isFull = use !== undefined && use.limit - use.open < FEW_DESCRIPTORS
  return isFull || errors.some(isDescriptorShortage) ? descriptorLimit(use, error) : error
}

function descriptorLimit(use: DescriptorUse | undefined, cause?: unknown): StartError {
  const numbers = use === undefined ? '' : `: the limit is ${use.limit}, ${use.open} are in use`
  return new StartError('descriptor-limit', {
    message: `the process may open too few files${numbers}`,
    hint: 'raise the limit on open files to 1024 or more: ulimit -n, LimitNOFILE in a systemd unit, or --ulimit nofile of docker run',
    cause,
  })
}
