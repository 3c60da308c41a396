// Checks a bearer token as a server does: HMAC, a row, comparison in constant time.
import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import Database from 'better-sqlite3'

/** Stores the token, and returns the check of an `Authorization` header. */
export function openTokenCheck(path, token) {
  const pepper = createSecretKey(randomBytes(32))
  const digestOf = (text) => createHmac('sha256', pepper).update(text).digest('hex')
  const db = new Database(path)
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE tokens (id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, revoked_at INTEGER) STRICT')
  db.prepare('INSERT INTO tokens (id, digest) VALUES (?, ?)').run('token', digestOf(token))
  const select = db.prepare('SELECT id, digest, revoked_at FROM tokens WHERE digest = ?')
  return (authorization = '') => {
    const digest = digestOf(authorization.slice('Bearer '.length))
    const stored = select.get(digest)
    if (stored === undefined || stored.revoked_at !== null) return false
    return timingSafeEqual(Buffer.from(stored.digest), Buffer.from(digest))
  }
}
