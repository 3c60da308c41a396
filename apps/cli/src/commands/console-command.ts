import type { Call } from '../call.ts'
import { openBrowser } from '../dev/open-browser.ts'
import { consoleLink } from '../server-access/console-link.ts'

/** Prints a link that signs in to the console once, or opens it. */
export async function consoleCommand(call: Call, { open = false }: { readonly open?: boolean }): Promise<void> {
  const link = await consoleLink(call.client(), call.serverUrl())
  const { env } = call.terminal
  if (open) openBrowser(link.url, env, (command) => call.out.note(`cannot run ${command}: open the link yourself`))
  call.out.document(link, () => `${link.url}\n`)
  if (!call.out.isJson && link.expiresAt !== undefined) call.out.note('the link works once, within 5 minutes')
}
