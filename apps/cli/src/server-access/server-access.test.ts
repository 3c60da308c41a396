import { statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { temporaryDir } from '../../test/temporary-dir.ts'
import { contextsPath, readContexts, writeContexts } from './contexts.ts'
import { readDevSession, removeDevSession, writeDevSession } from './dev-session.ts'
import { serverAccess } from './server-access.ts'

const dir = temporaryDir()
const DEV = { url: 'http://127.0.0.1:9/v1', token: 'dev-token', pid: 1 }

function terminalWith(env: Readonly<Record<string, string>> = {}) {
  return { cwd: dir(), env: { PERDURE_CONTEXTS: `${dir()}/contexts.json`, ...env } }
}

function withContext(token = 'context-token') {
  const { env } = terminalWith()
  writeContexts(env, { current: 'prod', contexts: { prod: { url: 'https://prod.example/v1', token } } })
}

describe('serverAccess', () => {
  it('defaults to http://127.0.0.1:8080/v1', () => {
    expect(serverAccess(terminalWith(), {})).toMatchObject({ url: 'http://127.0.0.1:8080/v1', token: undefined })
  })

  it('defaults to the port and the base path of the server that the environment configures', () => {
    const urlWith = (env: Readonly<Record<string, string>>) => serverAccess(terminalWith(env), {}).url

    expect(urlWith({ PERDURE_SERVER_PORT: '9000' })).toBe('http://127.0.0.1:9000/v1')
    expect(urlWith({ PERDURE_SERVER_PORT: '9000', PERDURE_SERVER_BASE_PATH: '/ai' })).toBe('http://127.0.0.1:9000/ai')
    expect(urlWith({ PERDURE_SERVER_PORT: '0' })).toBe('http://127.0.0.1:8080/v1')
    expect(urlWith({ PERDURE_SERVER_PORT: '9000', PERDURE_URL: 'http://env.example/v1' })).toBe('http://env.example/v1')
    expect(() => urlWith({ PERDURE_SERVER_PORT: '70000' })).toThrow('PERDURE_SERVER_PORT is not a port: 70000')
  })

  it('prefers flags, then the environment, then the context, then perdure dev', () => {
    writeDevSession(dir(), DEV)
    expect(serverAccess(terminalWith(), {})).toMatchObject({ url: DEV.url, token: 'dev-token' })
    withContext()
    expect(serverAccess(terminalWith(), {})).toMatchObject({ url: 'https://prod.example/v1', token: 'context-token' })
    const env = { PERDURE_URL: 'http://env.example/v1' }
    expect(serverAccess(terminalWith(env), {}).url).toBe('http://env.example/v1')
    expect(serverAccess(terminalWith(env), { context: 'prod' }).url).toBe('https://prod.example/v1')
    expect(serverAccess(terminalWith(env), { url: 'http://flag.example/v1' }).url).toBe('http://flag.example/v1')
  })

  it('sends a stored token only to the server it was stored with', () => {
    writeDevSession(dir(), DEV)
    withContext()

    expect(serverAccess(terminalWith(), { url: 'http://other.example/v1' }).token).toBeUndefined()
    expect(serverAccess(terminalWith({ PERDURE_URL: 'http://other.example/v1' }), {}).token).toBeUndefined()
    expect(serverAccess(terminalWith({ PERDURE_TOKEN: 't' }), { url: 'http://other.example/v1' }).token).toBe('t')
  })

  it('sends the token of perdure dev also if its URL is given', () => {
    writeDevSession(dir(), DEV)
    expect(serverAccess(terminalWith(), { url: `${DEV.url}/` }).token).toBe('dev-token')
    expect(serverAccess(terminalWith({ PERDURE_URL: DEV.url }), {}).token).toBe('dev-token')
    expect(serverAccess(terminalWith({ PERDURE_URL: DEV.url, PERDURE_TOKEN: 't' }), {}).token).toBe('t')
    for (const url of ['http://127.0.0.1:9', 'http://127.0.0.1:9/v1/x', 'http://127.0.0.1:90/v1']) {
      expect(serverAccess(terminalWith(), { url }).token).toBeUndefined()
    }
  })

  it('ignores a dev session that points to another machine', () => {
    writeDevSession(dir(), { ...DEV, url: 'http://evil.example/v1' })

    expect(serverAccess(terminalWith(), {})).toMatchObject({ url: 'http://127.0.0.1:8080/v1', token: undefined })
  })

  it('rejects an unknown context and an invalid URL', () => {
    expect(() => serverAccess(terminalWith(), { context: 'nope' })).toThrow('unknown context nope')
    expect(() => serverAccess(terminalWith(), { url: 'ftp://x' })).toThrow('not an http(s) URL')
  })
})

describe('a file with contexts or a dev session', () => {
  it('is readable only by its owner', () => {
    withContext()
    writeDevSession(dir(), DEV)

    expect(statSync(contextsPath(terminalWith().env)).mode & 0o777).toBe(0o600)
    expect(statSync(`${dir()}/.graphorin/dev-session.json`).mode & 0o777).toBe(0o600)
    expect(readContexts(terminalWith().env).current).toBe('prod')
  })

  it('is kept by removeDevSession when another process wrote the session', () => {
    writeDevSession(dir(), DEV)
    removeDevSession(dir(), 2)
    expect(readDevSession(dir())).toEqual(DEV)
    removeDevSession(dir(), 1)
    expect(readDevSession(dir())).toBeUndefined()
  })
})
