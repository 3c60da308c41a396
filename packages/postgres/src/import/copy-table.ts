import { createHash, hash } from 'node:crypto'
import { StartError } from '@perdure/ports'
import type { Execute } from '../connection/connection.ts'
import type { CatalogTable } from './catalog.ts'
import type { CopiedRow, TableCopy, TableSource } from './copied-table.ts'
import { readCursor } from './read-cursor.ts'
import { type StoredForm, storedForm } from './stored-form.ts'

export interface CopyTable extends TableSource {
  readonly catalog: CatalogTable | undefined
}

/**
 * Inserts the rows of a table in one transaction, and compares what is stored with what was read.
 *
 * @throws StartError `copy-refused` if the two sides differ
 */
export async function copyTable(execute: Execute, { table, rows, count, catalog }: CopyTable): Promise<TableCopy> {
  const form = storedForm(table, catalog)
  const run = (text: string, values: unknown[] = []) => execute({ text, values })
  await run('begin')
  // The rows that triggers would add are copied too.
  if (catalog?.hasTriggers) await run(`alter table "${table.name}" disable trigger user`)
  const source = await insertRows(execute, { name: table.name, form, rows })
  for (const column of catalog?.columns ?? []) if (column.isIdentity) await run(raiseSequence(table.name, column.name))
  if (catalog?.hasTriggers) await run(`alter table "${table.name}" enable trigger user`)
  await run('commit')
  await run(`analyze "${table.name}"`)
  const target = await storedDigest(execute, form)
  if (source.rows !== count) throw different(table.name, `${count} rows, of which ${source.rows} could be read`)
  if (source.rows !== target.rows) throw different(table.name, `${source.rows} rows read, ${target.rows} stored`)
  if (source.sha256 !== target.sha256) throw different(table.name, 'the stored rows differ from those that were read')
  return { name: table.name, ...target }
}

type Digest = Omit<TableCopy, 'name'>

const MAX_ROWS = 1_000
const MAX_CHARACTERS = 2 * 1024 * 1024

interface Insertion {
  readonly name: string
  readonly form: StoredForm
  readonly rows: Iterable<CopiedRow>
}

/** While the server inserts a batch, the next one is read. */
async function insertRows(execute: Execute, { name, form, rows }: Insertion): Promise<Digest> {
  const text = insertion(name, form)
  const digest = createHash('sha256')
  const newBatch = () => ({ columns: form.columns.map((): (string | null)[] => []), rows: 0, characters: 0 })
  let batch = newBatch()
  let inserting: Promise<unknown> = Promise.resolve()
  let total = 0
  const flush = async () => {
    await inserting
    inserting = execute({ name: `copy ${name}`, text, values: batch.columns })
    // Awaited with the next batch: a rejection until then is not unhandled.
    inserting.catch(() => undefined)
    batch = newBatch()
  }
  for (const row of rows) {
    const { sent, hashed } = form.encode(row)
    for (const [index, value] of sent.entries()) batch.columns[index]?.push(value)
    digest.update(hash('sha256', hashed, 'buffer'))
    total++
    batch.rows++
    batch.characters += hashed.length
    if (batch.rows === MAX_ROWS || batch.characters >= MAX_CHARACTERS) await flush()
  }
  if (batch.rows > 0) await flush()
  await inserting
  return { rows: total, sha256: digest.digest('hex') }
}

function insertion(name: string, { columns }: StoredForm): string {
  const names = columns.map((column) => `"${column.name}"`).join(', ')
  const values = columns.map(({ type }, index) => `v${index}::${type}`).join(', ')
  const lists = columns.map((_, index) => `$${index + 1}::text[]`).join(', ')
  const row = columns.map((_, index) => `v${index}`).join(', ')
  return `insert into "${name}" (${names}) overriding system value
    select ${values} from unnest(${lists}) as row (${row})`
}

const raiseSequence = (table: string, column: string): string =>
  `select setval(pg_get_serial_sequence('"${table}"', '${column}'), max("${column}")) from "${table}"
    having max("${column}") is not null`

const HASHES_PER_READ = 10_000

async function storedDigest(execute: Execute, { hashes }: StoredForm): Promise<Digest> {
  const digest = createHash('sha256')
  let rows = 0
  for await (const { hash } of readCursor<{ hash: Uint8Array }>(execute, { text: hashes, limit: HASHES_PER_READ })) {
    digest.update(hash)
    rows++
  }
  return { rows, sha256: digest.digest('hex') }
}

const different = (table: string, what: string): StartError =>
  new StartError('copy-refused', {
    message: `The copy of the table ${table} is not equal to the original: ${what}.`,
    hint: 'Check the file with `perdure storage verify`, and run the command again. The file was not changed, and no server accepts the copy.',
  })
