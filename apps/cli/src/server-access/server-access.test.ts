import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { contextsPath, readContexts, writeContexts } from './contexts.ts'
import { readDevSession, removeDevSession, writeDevSession } from './dev-session.ts'
import { serverAccess } from './server-access.ts'

const dir = temporaryDir()
const DEV = { url: 'http://127.0.0.1:9/v1', token: 'dev-token', pid: 1 }

function place(env: Readonly<Record<string, string>> = {}) {
  return { cwd: dir(), env: { PERDURE_CONTEXTS: `${dir()}/contexts.json`, ...env } }
}

function withContext(token = 'context-token') {
  const { env } = place()
  writeContexts(env, { current: 'prod', contexts: { prod: { url: 'https://prod.example/v1', token } } })
}

describe('serverAccess', () => {
  it('takes the default address without anything', () => {
    expect(serverAccess(place(), {})).toMatchObject({ url: 'http://127.0.0.1:8080/v1', token: undefined })
  })

  it('takes the flag before the environment, that before the context, that before perdure dev', () => {
    writeDevSession(dir(), DEV)
    expect(serverAccess(place(), {})).toMatchObject({ url: DEV.url, token: 'dev-token' })
    withContext()
    expect(serverAccess(place(), {})).toMatchObject({ url: 'https://prod.example/v1', token: 'context-token' })
    const env = { PERDURE_URL: 'http://env.example/v1' }
    expect(serverAccess(place(env), {}).url).toBe('http://env.example/v1')
    expect(serverAccess(place(env), { context: 'prod' }).url).toBe('https://prod.example/v1')
    expect(serverAccess(place(env), { url: 'http://flag.example/v1' }).url).toBe('http://flag.example/v1')
  })

  it('sends a stored token nowhere but to its own server', () => {
    writeDevSession(dir(), DEV)
    withContext()

    expect(serverAccess(place(), { url: 'http://other.example/v1' }).token).toBeUndefined()
    expect(serverAccess(place({ PERDURE_URL: 'http://other.example/v1' }), {}).token).toBeUndefined()
    expect(serverAccess(place({ PERDURE_TOKEN: 't' }), { url: 'http://other.example/v1' }).token).toBe('t')
  })

  it('believes no session that points away from this machine', () => {
    writeDevSession(dir(), { ...DEV, url: 'http://evil.example/v1' })

    expect(serverAccess(place(), {})).toMatchObject({ url: 'http://127.0.0.1:8080/v1', token: undefined })
  })

  it('refuses an unknown context, and an address that is none', () => {
    expect(() => serverAccess(place(), { context: 'nope' })).toThrow('there is no context nope')
    expect(() => serverAccess(place(), { url: 'ftp://x' })).toThrow('not an http(s) address')
  })
})

describe('what is remembered', () => {
  it('is readable by its owner only', () => {
    withContext()
    writeDevSession(dir(), DEV)

    expect(statSync(contextsPath(place().env)).mode & 0o777).toBe(0o600)
    expect(statSync(`${dir()}/.graphorin/dev-session.json`).mode & 0o777).toBe(0o600)
    expect(readContexts(place().env).current).toBe('prod')
  })

  it('is forgotten by the process that wrote it, and by no other', () => {
    writeDevSession(dir(), DEV)
    removeDevSession(dir(), 2)
    expect(readDevSession(dir())).toEqual(DEV)
    removeDevSession(dir(), 1)
    expect(readDevSession(dir())).toBeUndefined()
  })
})
