// The package ships index.d.ts, but its exports map has no "types" condition, so TypeScript (nodenext) cannot find it.
declare module 'better-sqlite3-multiple-ciphers' {
  import Database = require('better-sqlite3')
  export = Database
}
