import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { OPERATOR_ID } from '@perdure/protocol'
import * as v from 'valibot'
import { cliError } from '../cli-error.ts'
import type { Terminal } from '../terminal.ts'

type Env = Terminal['env']

const Contexts = v.object({
  /** Name of the context in use. */
  current: v.optional(v.string()),
  contexts: v.record(
    v.pipe(v.string(), v.regex(OPERATOR_ID)),
    v.object({ url: v.string(), token: v.optional(v.string()) }),
  ),
})

export type Contexts = v.InferOutput<typeof Contexts>

/** `PERDURE_CONTEXTS`, or `perdure/contexts.json` in the configuration folder of the user. */
export const contextsPath = (env: Env): string =>
  env.PERDURE_CONTEXTS ||
  join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'perdure', 'contexts.json')

export function readContexts(env: Env): Contexts {
  const path = contextsPath(env)
  const text = readIfPresent(path)
  if (text === undefined) return { contexts: {} }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Contexts), text)
  if (parsed.success) return parsed.output
  throw cliError('contexts-invalid', {
    message: `${path} is not a valid contexts file`,
    hint: 'fix the file, or move it away and add the contexts again with perdure context add',
    exit: 'usage',
  })
}

/**
 * Replaces the file by a rename, so that readers never see a partial file. Only the owner can read the stored tokens.
 */
export function writeContexts(env: Env, contexts: Contexts): void {
  const path = contextsPath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
