import { afterAll, afterEach, beforeAll } from 'vitest'
import { needsTool } from '../tooling/needed-tool.ts'
import { type ConsolePage, type ConsoleWorld, openConsoleWorld, signedIn } from './console-browser.ts'
import { createToken } from './perdure-process.ts'
import { startPrefixCaddy, startPrefixNginx } from './proxies.ts'

const PROXIES = { nginx: startPrefixNginx, caddy: startPrefixCaddy } as const
/** CONSOLE_BEHIND=nginx or caddy is the long form: every test again, behind a proxy that removes a path. */
const BEHIND = process.env.CONSOLE_BEHIND as keyof typeof PROXIES | undefined

/** The server and the browser that the tests of a file share. */
export let world: ConsoleWorld

/** Opens the console, signed in with this token or as the administrator. */
export const enter = (token?: string): Promise<ConsolePage> => signedIn(world, token)

/** Opens the console with a new token that has these scopes. */
export const enterWith = async (scopes: string): Promise<ConsolePage> =>
  enter(await createToken(world.sandbox, scopes, 'guest'))

/** Starts a run and waits until it ends or is suspended. */
export const run = (agentId: string, input: unknown = {}, more: object = {}) =>
  world.rest.agents.run(agentId, { input, ...more })

/** Tests of the console in Chromium, with one server and one browser for all of them. */
export function describeConsole(title: string, tests: () => void): void {
  needsTool('chromium', ...(BEHIND === undefined ? [] : [BEHIND])).describe(title, () => {
    let stopProxy = () => {}

    beforeAll(async () => {
      const opened = await openConsoleWorld()
      world = opened
      if (BEHIND === undefined) return
      const proxy = await PROXIES[BEHIND]('/tools/agents')(opened.sandbox, opened.server().url)
      stopProxy = () => void proxy.process.kill('SIGKILL')
      world = { ...opened, url: () => `${proxy.url.slice(0, proxy.url.lastIndexOf('/'))}/console/` }
    })

    afterEach(async () => {
      await world.closePages()
    })

    afterAll(async () => {
      stopProxy()
      await world?.close()
    })

    tests()
  })
}
