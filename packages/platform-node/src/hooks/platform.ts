import type { HookVerifier } from '@perdure/ports'

/** How the requests of one platform are verified. */
export interface Platform {
  /** @throws Error whose message names the problem, if a secret does not have the form of the platform */
  checkSecret?(secret: string): void
  open(toleranceSeconds: number | undefined): HookVerifier
}

export const DEFAULT_TOLERANCE_SECONDS = 300
