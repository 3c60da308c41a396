import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientTables } from './client-tables.ts'
import { apiReports, entryPoints, packageApis, withEntryPoints } from './entry-points.ts'
import { withLayerTable } from './layer-table.ts'
import { llmsText } from './llms.ts'
import { deriveReference } from './reference.ts'

const root = join(import.meta.dirname, '../..')
const reference = join(root, 'docs/reference')
const architecture = join(root, 'ARCHITECTURE.md')

mkdirSync(reference, { recursive: true })
for (const [name, text] of Object.entries(deriveReference())) writeFileSync(join(reference, name), text)

writeFileSync(join(root, 'packages/client/src/protocol-tables.ts'), clientTables())

const document = existsSync(architecture) ? readFileSync(architecture, 'utf8') : undefined
const derived = document === undefined ? undefined : withLayerTable(document)
if (derived === undefined) {
  console.error(
    `ARCHITECTURE.md ${document === undefined ? 'does not exist' : 'has no layer markers'}: layer table not written`,
  )
} else {
  writeFileSync(architecture, derived)
}

writeFileSync(join(root, 'llms.txt'), llmsText())

const entries = entryPoints()
if (entries === undefined) {
  console.error('packages/perdure is not built: its entry points are not written')
} else {
  mkdirSync(join(root, 'etc'), { recursive: true })
  const reports = apiReports([...entries, ...packageApis()])
  for (const [name, text] of Object.entries(reports)) writeFileSync(join(root, 'etc', name), text)
  const text = withEntryPoints(readFileSync(architecture, 'utf8'), entries)
  if (text === undefined) console.error('ARCHITECTURE.md has no markers for the entry points: table not written')
  else writeFileSync(architecture, text)
}
