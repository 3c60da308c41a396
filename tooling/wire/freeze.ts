import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printWire, wireOf } from './snapshot.ts'

// `pnpm release:version` calls this: from now on, changes are compared with the wire of this release.
writeFileSync(join(import.meta.dirname, '../../etc/wire.json'), printWire(wireOf()))
