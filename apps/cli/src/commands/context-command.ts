import { nearest, OPERATOR_ID } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { cliError, usageError } from '../cli-error.ts'
import { checkServerUrl } from '../server-access/check-server-url.ts'
import { type Contexts, readContexts, writeContexts } from '../server-access/contexts.ts'

export interface ContextAddFlags {
  readonly name: string
  readonly url: string
  readonly token?: string
  readonly replace?: boolean
}

export function contextListCommand({ out, terminal }: Call): void {
  const known = readContexts(terminal.env)
  const items = Object.keys(known.contexts).map((name) => shown(known, name))
  out.list(
    { items, nextCursor: null },
    {
      '': ({ current }) => (current ? '*' : ' '),
      NAME: 'name',
      URL: 'url',
      TOKEN: 'token',
    },
  )
}

/** The first context added becomes the current one. */
export function contextAddCommand({ out, terminal }: Call, flags: ContextAddFlags): void {
  const { name, url, token, replace } = flags
  if (!OPERATOR_ID.test(name)) throw usageError(`invalid context name ${name}`, 'use letters, digits, "_" and "-"')
  checkServerUrl(url)
  const known = readContexts(terminal.env)
  if (known.contexts[name] !== undefined && !replace) {
    throw cliError('context-exists', {
      message: `context ${name} already exists`,
      hint: 'choose another name, or add --replace',
      exit: 'conflict',
    })
  }
  const next = {
    current: known.current ?? name,
    contexts: { ...known.contexts, [name]: { url, ...(token ? { token } : {}) } },
  }
  writeContexts(terminal.env, next)
  out.document(shown(next, name), () => `added ${name}${next.current === name ? ', now in use' : ''}\n`)
}

export function contextUseCommand({ out, terminal }: Call, { name }: { readonly name: string }): void {
  const known = readContexts(terminal.env)
  if (known.contexts[name] === undefined) {
    const near = nearest(name, Object.keys(known.contexts))
    throw usageError(
      `unknown context ${name}`,
      near === undefined ? 'run perdure context list' : `Did you mean ${near}?`,
    )
  }
  const next = { ...known, current: name }
  writeContexts(terminal.env, next)
  out.document(shown(next, name), () => `now in use: ${name}\n`)
}

const SHOWN_TOKEN_LENGTH = 4

function shown({ contexts, current }: Contexts, name: string) {
  const { url = '', token } = contexts[name] ?? {}
  return {
    name,
    url,
    ...(token === undefined ? {} : { token: `…${token.slice(-SHOWN_TOKEN_LENGTH)}` }),
    current: name === current,
  }
}
