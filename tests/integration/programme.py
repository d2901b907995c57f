#!/usr/bin/python3
"""tests/integration/programme.py - plays a recorded programme through a real Icecast into `spintag run`, and writes down
what a real webhook receiver is told.

usage: programme.py --bin spintag --programme programme.mp3 --out plays.csv [--catalogue LIST | --state DIR]
                    [--from S] [--seconds N] [--work DIR] [--verbose]

Needs Python's standard library, ffmpeg and icecast2. Runs in real time: an hour takes an hour. The catalogue is either
ingested first into a private store of its own (--catalogue, one file a line, relative to the list) or already in --state
(a spintag state directory, left as it is otherwise).

plays.csv: track,start_s,end_s,detected_s. Track = stem of the source that was ingested; times are seconds on the programme's
own clock: the wall clock less the moment when ffmpeg sent the first sample. detected_s = when track.started arrived. Every
signature is verified (Standard Webhooks 1.0); a wrong or missing one, or an event that arrives twice under two ids, ends the
run with status 1. Beside plays.csv lies plays.csv.events, one event a line, as received.
"""
import argparse, base64, csv, datetime, hashlib, hmac, http.server, json, os, pwd, secrets, shutil, signal, socket
import subprocess, sys, tempfile, threading, time

ICECAST = """<icecast><limits><clients>20</clients><sources>2</sources><burst-size>65535</burst-size></limits>
<authentication><source-password>{password}</source-password><admin-user>admin</admin-user>
<admin-password>{password}</admin-password></authentication><hostname>127.0.0.1</hostname>
<listen-socket><port>{port}</port><bind-address>127.0.0.1</bind-address></listen-socket><fileserve>0</fileserve>
<paths><logdir>{directory}</logdir><webroot>/usr/share/icecast2/web</webroot>
<adminroot>/usr/share/icecast2/admin</adminroot></paths><logging><accesslog>access.log</accesslog>
<errorlog>error.log</errorlog><loglevel>3</loglevel></logging>{user}</icecast>
"""


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_for_port(port, seconds=20):
    until = time.time() + seconds
    while time.time() < until:
        with socket.socket() as s:
            if s.connect_ex(('127.0.0.1', port)) == 0:
                return
        time.sleep(0.05)
    sys.exit('nobody listens on port %d' % port)


def unix(text):
    return datetime.datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()


class Receiver:
    """A webhook receiver that believes nothing unsigned."""

    def __init__(self, secret, path):
        self.key = base64.b64decode(secret[len('whsec_'):])
        self.events, self.wrong, self.seen = [], [], {}
        self.log = open(path, 'w')
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('content-length') or 0))
                ok = outer.take(self.headers, body)
                self.send_response(204 if ok else 401)
                self.send_header('content-length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.lock = threading.Lock()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, headers, body):
        arrived = time.time()
        event_id, stamp = headers.get('webhook-id', ''), headers.get('webhook-timestamp', '')
        signed = event_id.encode() + b'.' + stamp.encode() + b'.' + body
        right = 'v1,' + base64.b64encode(hmac.new(self.key, signed, hashlib.sha256).digest()).decode()
        with self.lock:
            if right not in headers.get('webhook-signature', '').split() or abs(arrived - int(stamp or 0)) > 300:
                self.wrong.append('bad signature on %s' % event_id)
                return False
            if event_id in self.seen:
                if self.seen[event_id] != body:
                    self.wrong.append('%s came with two bodies' % event_id)
                return True
            self.seen[event_id] = body
            event = json.loads(body)
            self.events.append((arrived, event))
            self.log.write(json.dumps({'arrived': arrived, 'event': event}) + '\n')
            self.log.flush()
        return True


def plays_of(events, origin, length, sources):
    """One row a play_id: what the receiver knows in the end."""
    plays, wrong = {}, []
    for arrived, event in events:
        if not event['type'].startswith('track.'):
            continue
        d = event['data']
        row = plays.setdefault(d['play_id'], {'detected': None, 'end': None, 'ended': 0})
        row['track'] = sources.get(d['track']['track_id'], 'track %s' % d['track']['track_id'])
        row['start'] = unix(d['started_at']) - origin
        if event['type'] == 'track.started' and row['detected'] is None:
            row['detected'] = arrived - origin
        if d['ended_at']:
            row['end'] = unix(d['ended_at']) - origin
        if event['type'] == 'track.ended':
            row['ended'] += 1
            if row['ended'] > 1:
                wrong.append('play %s ended twice' % d['play_id'])
    rows = []
    for play_id, r in sorted(plays.items(), key=lambda x: x[1]['start']):
        if r['end'] is None:
            wrong.append('play %s has no end' % play_id)
        rows.append([r['track'], '%.3f' % r['start'], '%.3f' % (length if r['end'] is None else r['end']),
                     '' if r['detected'] is None else '%.3f' % r['detected']])
    return rows, wrong


def start_icecast(work):
    directory = os.path.join(work, 'icecast')
    os.makedirs(directory)
    port, password, user, who = free_port(), secrets.token_hex(8), '', {}
    if os.geteuid() == 0:                            # icecast refuses to serve as root
        owner = next(u for u in ('icecast2', 'nobody') if u in {p.pw_name for p in pwd.getpwall()})
        account = pwd.getpwnam(owner)
        shutil.chown(directory, owner)
        os.chmod(work, 0o711)
        who = {'user': account.pw_uid, 'group': account.pw_gid, 'extra_groups': []}
    config = os.path.join(directory, 'icecast.xml')
    with open(config, 'w') as f:
        f.write(ICECAST.format(password=password, port=port, directory=directory, user=user))
    os.chmod(config, 0o644)
    process = subprocess.Popen(['icecast2', '-c', config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **who)
    wait_for_port(port)
    return process, port, password


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--bin', required=True); ap.add_argument('--programme', required=True); ap.add_argument('--out', required=True)
    ap.add_argument('--catalogue'); ap.add_argument('--state'); ap.add_argument('--work')
    ap.add_argument('--from', dest='begin', type=float, default=0.0); ap.add_argument('--seconds', type=float)
    ap.add_argument('--verbose', action='store_true')
    a = ap.parse_args()
    work = tempfile.mkdtemp(prefix='spintag-programme-', dir=a.work)
    state = os.path.abspath(a.state or os.path.join(work, 'state'))
    os.makedirs(state, exist_ok=True)
    env = dict(os.environ, STATE_DIRECTORY=state)
    env.pop('SPINTAG_DATABASE_URL', None)
    children = []
    try:
        if a.catalogue:
            folder = os.path.dirname(os.path.abspath(a.catalogue))
            files = [os.path.join(folder, l.strip()) for l in open(a.catalogue) if l.strip()]
            subprocess.run([a.bin, 'ingest', '--json'] + files, env=env, check=True, stdout=subprocess.DEVNULL)
        listing = subprocess.run([a.bin, 'catalog', 'export', '--json', '-'], env=env, check=True, stdout=subprocess.PIPE, text=True)
        sources = {}
        for line in listing.stdout.splitlines():
            t = json.loads(line)
            if 'track_id' in t:
                sources[t['track_id']] = os.path.splitext(os.path.basename(t['source']))[0]
        if not sources:
            sys.exit('the catalogue is empty')
        icecast, port, password = start_icecast(work)
        children.append(icecast)
        secret = 'whsec_' + base64.b64encode(secrets.token_bytes(32)).decode()
        receiver = Receiver(secret, a.out + '.events')
        config = os.path.join(work, 'spintag.toml')
        with open(config, 'w') as f:
            f.write('[web]\nlisten = "127.0.0.1:0"\n[[station]]\nname = "programme"\nurl = "http://127.0.0.1:%d/programme.mp3"\n'
                    '[[sink]]\nname = "receiver"\nurl = "http://127.0.0.1:%d/"\nsecrets = ["%s"]\n'
                    % (port, receiver.server.server_port, secret))
        os.chmod(config, 0o600)
        feed = ['ffmpeg', '-v', 'error', '-re', '-ss', str(a.begin), '-i', a.programme]
        if a.seconds:
            feed += ['-t', str(a.seconds)]
        feed += ['-c:a', 'copy', '-content_type', 'audio/mpeg', '-f', 'mp3', 'icecast://source:%s@127.0.0.1:%d/programme.mp3' % (password, port)]
        origin = time.time()
        feeder = subprocess.Popen(feed, stdin=subprocess.DEVNULL)
        children.append(feeder)
        time.sleep(0.5)
        with open(a.out + '.log', 'w') as log:
            daemon = subprocess.Popen([a.bin, 'run', '--config', config], env=env, stderr=None if a.verbose else log)
        children.append(daemon)
        while feeder.poll() is None and daemon.poll() is None:
            time.sleep(0.2)
        length = time.time() - origin
        if daemon.poll() is not None:
            sys.exit('spintag run ended by itself with status %d (see %s.log)' % (daemon.returncode, a.out))
        time.sleep(5)                                # what Icecast still holds
        stopped = time.time()
        daemon.send_signal(signal.SIGTERM)
        status = daemon.wait(30)
        wrong = list(receiver.wrong)
        if status:
            wrong.append('spintag run ended with status %d' % status)
        rows, more = plays_of(receiver.events, origin - a.begin, length + a.begin, sources)
        with open(a.out, 'w', newline='') as f:
            w = csv.writer(f)
            w.writerow(['track', 'start_s', 'end_s', 'detected_s'])
            w.writerows(rows)
        print('%d events, %d plays, stopped in %.1f s' % (len(receiver.events), len(rows), time.time() - stopped))
        for w in wrong + more:
            print('WRONG:', w)
        return 1 if wrong + more else 0
    finally:
        for child in reversed(children):
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.kill()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
