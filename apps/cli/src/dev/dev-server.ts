import process from 'node:process'
import { Worker } from 'node:worker_threads'

// The command has ended: without this, a server that still waits for an order would end with a warning of Node.js.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))

const isSource = import.meta.url.endsWith('.ts')
new Worker(new URL(isSource ? './parent-watch.ts' : './parent-watch.cjs', import.meta.url)).unref()

// Imported only after `parent-watch` has started: these imports are slow, and the parent may exit in the meantime.
const { hideSecrets } = await import('../hide-secrets.ts')
const { allowClosedPipes, processTerminal } = await import('../process-terminal.ts')
const { parentLink } = await import('./parent-link.ts')
const { serveDev } = await import('./serve-dev.ts')
hideSecrets()
allowClosedPipes()
process.exit(await serveDev(parentLink(process), processTerminal()))
