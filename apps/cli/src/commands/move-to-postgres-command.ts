import { auditEncryption, type Move, type Moved, moveToPostgres, storageEncryption } from '@perdure/server-app/admin'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { givenPath } from '../config/storage-file.ts'
import { validConfig } from '../config/valid-config.ts'

export interface MoveToPostgresFlags {
  readonly from: string
  readonly toUrlRef: string
  readonly schema: string
  readonly auditFrom?: string
  readonly caRef?: string
}

/** Fails while a server holds a file. Passphrases of encrypted files come from the configuration. */
export async function moveToPostgresCommand(call: Call, flags: MoveToPostgresFlags): Promise<void> {
  const loaded = await call.config()
  const config = validConfig(loaded)
  const { from, schema, auditFrom, toUrlRef: urlRef, caRef } = flags
  const moves: Move[] = [{ path: givenPath(call, from), encryption: await storageEncryption(config, loaded), schema }]
  if (auditFrom !== undefined) {
    if (!config.audit.enabled) {
      throw usageError(
        '--audit-from names an audit log, but audit.enabled is not set',
        'use the configuration of the server that wrote it: audit.passphraseRef has its passphrase',
      )
    }
    const encryption = await auditEncryption(config, loaded)
    moves.push({ path: givenPath(call, auditFrom), encryption, schema: `${schema}_audit` })
  }
  const onTable: NonNullable<Parameters<typeof moveToPostgres>[2]['onTable']> = (_, { name, rows }) =>
    call.out.note(`${name}: ${rows} rows copied and compared`)
  const moved = await moveToPostgres(config, loaded, { moves, urlRef, caRef, onTable })
  call.out.document({ moved }, () => moved.map(textOf).join(''))
}

function textOf({ path, schema, tables, auditEntries }: Moved): string {
  if (tables === undefined) return `${path}: an earlier command has moved it to the schema ${schema}\n`
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return `${path}: moved to the schema ${schema}, ${rows} rows in ${tables.length} tables, ${auditEntries} audit entries\n`
}
