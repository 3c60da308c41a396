import type { Options } from '../sdk.ts'

/** Options that a durable call cannot honour, and what to use instead. */
export const REFUSED: Readonly<Record<string, string>> = {
  experimental_steering:
    'a message that is sent in this way is lost in a crash; wait for the end of the turn, or abort it',
  streamRetries:
    'text that is shown cannot be taken back; set `retries` of the agent, or `maxRetries` for errors before the first word',
}

/** @throws TypeError for an option that would be ignored */
export function refuseOptions(options: Options): void {
  for (const [name, alternative] of Object.entries(REFUSED)) {
    if (options[name] !== undefined && options[name] !== 0) {
      throw new TypeError(`durable(): the option ${name} cannot be honoured: ${alternative}`)
    }
  }
}
