-- Opening books, games that endgame tables end, and resignation (DESIGN sections 4, 5 and 10).

set local role kroo_owner;
set local search_path = kroo, pg_temp;

create table book (
    name text primary key check (name ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,62}$'),
    sha256 bytea not null unique references artifact (sha256),
    rules text not null check (octet_length(rules) < 160),
    rule_set text generated always as (split_part(rules, ',', 1)) stored references rule_set (name),
    openings integer not null check (openings between 1 and 1048576),
    plies_min integer not null check (plies_min >= 1),
    plies_max integer not null check (plies_max between plies_min and 64),
    made text not null check (made <> '' and octet_length(made) < 512),
    note text not null default '' check (octet_length(note) < 512),
    added_by text not null check (added_by <> '' and octet_length(added_by) < 64),
    added_at timestamptz not null default now(),
    measured_pairs integer check (measured_pairs > 0),
    measured_wl integer check (measured_wl between 0 and measured_pairs),
    measured_how text check (octet_length(measured_how) < 512),
    constraint book_measured check (num_nulls(measured_pairs, measured_wl, measured_how) in (0, 3))
);
comment on table book is 'Opening books: pair k of an experiment takes the opening that a permutation keyed by its seed gives.';
comment on column book.name is 'Name given by a user.';
comment on column book.sha256 is 'sha256 of the file, in `artifact`.';
comment on column book.rules is 'Canonical text of the rule set its openings are legal under.';
comment on column book.rule_set is 'Its preset.';
comment on column book.openings is 'How many openings, of as many different positions (colour-swapped twins are one).';
comment on column book.plies_min is 'Plies of the shortest.';
comment on column book.plies_max is 'Plies of the longest.';
comment on column book.made is 'How it was made, as the file says.';
comment on column book.note is 'Free text.';
comment on column book.added_by is 'Who added it.';
comment on column book.added_at is 'When.';
comment on column book.measured_pairs is 'Pairs played to measure it; null = not measured.';
comment on column book.measured_wl is 'Those of them that the opening decided: each side won once.';
comment on column book.measured_how is 'Who played them.';

create table book_opening (
    book_sha256 bytea not null references book (sha256),
    number integer not null check (number >= 0),
    moves text collate "C" not null check (moves ~ '^(?:[A-F][a-f])*[A-F]?$' and moves <> ''),
    primary key (book_sha256, number),
    unique (book_sha256, moves)
);
comment on table book_opening is 'The openings of the books, one row each; a game belongs to the one it begins with.';
comment on column book_opening.book_sha256 is 'The book.';
comment on column book_opening.number is 'Its place in the book, from 0.';
comment on column book_opening.moves is 'Its moves.';

alter table experiment add constraint experiment_book_fkey foreign key (book_sha256) references book (sha256),
    add constraint experiment_book_plies check (book_sha256 is null or opening_plies = 0);

-- A pair belongs to the opening its first game begins with; none begins another, so there is one at most.
create view book_opening_pairs as
select b.name as book, o.number, o.moves, e.id as experiment_id, a.pair_no, a.a_half_points + c.a_half_points as half_points,
    case a.a_half_points + c.a_half_points when 0 then 'LL' when 1 then 'LD' when 3 then 'DW' when 4 then 'WW'
        else case a.a_half_points when 1 then 'DD' else 'WL' end end as outcome
from book b
    join experiment e on e.book_sha256 = b.sha256
    join experiment_counted n on n.experiment_id = e.id
    join game a on a.experiment_id = e.id and a.leg = 0 and a.pair_no < n.counted_pairs
    join game c on c.experiment_id = e.id and c.leg = 1 and c.pair_no = a.pair_no
    cross join lateral generate_series(b.plies_min, b.plies_max) l (length)
    join book_opening o on o.book_sha256 = b.sha256 and o.moves = left(a.moves, l.length)
where not exists (select from dispute d where d.experiment_id = a.experiment_id and d.pair_no = a.pair_no
    and d.state = 'open');
comment on view book_opening_pairs is 'Counted pairs of experiments with a book, each with its opening. Name an experiment: others are read whole.';
comment on column book_opening_pairs.book is 'Name of the book.';
comment on column book_opening_pairs.number is 'Number of the opening in it.';
comment on column book_opening_pairs.moves is 'Its moves.';
comment on column book_opening_pairs.experiment_id is 'The experiment.';
comment on column book_opening_pairs.pair_no is 'The pair.';
comment on column book_opening_pairs.half_points is 'Half points of player a in both games: 0 to 4.';
comment on column book_opening_pairs.outcome is 'LL, LD, DD, WL, DW or WW, player a''s view; WL: the opening decided.';

create view book_opening_score as
select book, number, moves, count(*) as pairs,
    count(*) filter (where outcome = 'WL') as decided, count(*) filter (where outcome = 'DD') as drawn,
    count(*) filter (where outcome in ('LL', 'LD', 'DW', 'WW')) as telling
from book_opening_pairs group by book, number, moves;
comment on view book_opening_score is 'What became of the pairs of each opening of a book, over all experiments that used it.';
comment on column book_opening_score.book is 'Name of the book.';
comment on column book_opening_score.number is 'Number of the opening in it.';
comment on column book_opening_score.moves is 'Its moves.';
comment on column book_opening_score.pairs is 'Counted pairs that began with it.';
comment on column book_opening_score.decided is 'Pairs in which each player won once: the opening decided (WL).';
comment on column book_opening_score.drawn is 'Pairs of two draws.';
comment on column book_opening_score.telling is 'Pairs that one player did better in.';

-- --- games that end early ---

alter table game drop constraint game_reason,
    add constraint game_reason check (
        case
            when reason = 'majority' then greatest(south, north) >= 25
            when reason = 'even' then south = 24 and north = 24
            when reason = 'adjudicated' then greatest(south, north) < 25
            when reason in ('unfed', 'resign', 'deadline', 'illegal-move', 'crash') then result <> 'draw'
            else reason in ('no-move', 'repetition', 'quiet-limit', 'agreed')
        end),
    drop constraint game_result_by_stores,
    add constraint game_result_by_stores check (
        reason in ('unfed', 'adjudicated', 'resign', 'deadline', 'illegal-move', 'crash')
        or result = case when south > north then 'south' when south < north then 'north' else 'draw' end),
    add column resign_ply integer,
    add constraint game_resign_ply check (
        resign_ply between 1 and plies and (reason <> 'resign' or resign_ply = plies)),
    add constraint game_resign_noted check (reason <> 'resign' or resign_ply is not null);
create index game_resigned on game (experiment_id, pair_no) include (resign_ply, reason, result) where resign_ply is not null;
comment on column game.south is 'Seeds in South''s store at the end: leftovers taken where the rules ended the game, as they stood where tables, a resignation or a fault did.';
comment on column game.north is 'Seeds in North''s store at the end, likewise.';
comment on column game.reason is 'How it ended: majority, even, no-move, repetition, quiet-limit, unfed; adjudicated (endgame tables proved the outcome); claimed: agreed, resign (follows from the scores), deadline, illegal-move, crash.';
comment on column game.resign_ply is 'Ply with which a side has resigned, or would have where the game was played out; null = none.';

create function game_resign_ply(scores bytea, resign_score integer, resign_plies integer) returns integer
language plpgsql immutable parallel safe set search_path = kroo, pg_temp as $$
declare
    behind integer[] := array[0, 0];
    score integer;
begin
    for ply in 1 .. coalesce(octet_length(scores), 0) / 2 loop
        score := get_byte(scores, 2 * ply - 2) + 256 * get_byte(scores, 2 * ply - 1);
        score := case when score >= 32768 then score - 65536 else score end;
        behind[1 + ply % 2] := case when score > -32768 and score <= -resign_score then behind[1 + ply % 2] + 1 else 0 end;
        if resign_plies > 0 and behind[1 + ply % 2] >= resign_plies then
            return ply;
        end if;
    end loop;
    return null;
end
$$;
comment on function game_resign_ply(bytea, integer, integer) is
    'The ply with which a side has found itself resign_score behind on resign_plies moves of its own in a row; null = none.';

-- A settled dispute may put other scores in place: what is derived from them follows.
create function game_note_resignation() returns trigger
language plpgsql set search_path = kroo, pg_temp as $$
begin
    select nullif(game_resign_ply(new.scores, e.resign_score, e.resign_plies),
        case when new.reason = 'resign' then 0 else new.plies end)
    into new.resign_ply from experiment e where e.id = new.experiment_id;
    return new;
end
$$;
comment on function game_note_resignation() is 'Trigger: resign_ply when the scores of a stored game are replaced.';
revoke all on function game_resign_ply(bytea, integer, integer), game_note_resignation() from public;
grant execute on function game_resign_ply(bytea, integer, integer) to kroo_coordinator;
create trigger game_scores_replaced before update of scores on game for each row
    when (old.scores is distinct from new.scores) execute function game_note_resignation();

create view resignation_calibration as
select e.id as experiment_id, e.resign_score, e.resign_plies, e.resign_playout_ppm, r.resigned, r.played_out, r.not_lost, r.won,
    case when r.played_out > 0 then r.not_lost::double precision / r.played_out end as false_rate,
    case when r.played_out > 0 then (r.not_lost + 1.920729 - 1.959964 * sqrt(
        r.not_lost::double precision * (r.played_out - r.not_lost) / r.played_out + 0.960365)) / (r.played_out + 3.841459) end as false_lo,
    case when r.played_out > 0 then (r.not_lost + 1.920729 + 1.959964 * sqrt(
        r.not_lost::double precision * (r.played_out - r.not_lost) / r.played_out + 0.960365)) / (r.played_out + 3.841459) end as false_hi
from experiment e
    join experiment_counted n on n.experiment_id = e.id
    cross join lateral (select count(*) filter (where g.reason = 'resign') as resigned,
            count(*) filter (where g.reason <> 'resign') as played_out,
            count(*) filter (where g.reason <> 'resign' and g.result <> case g.resign_ply % 2 when 1 then 'north' else 'south' end) as not_lost,
            count(*) filter (where g.reason <> 'resign' and g.result = case g.resign_ply % 2 when 1 then 'south' else 'north' end) as won
        from game g
        where g.experiment_id = e.id and g.pair_no < n.counted_pairs and g.resign_ply is not null) r
where e.resign_plies > 0;
comment on view resignation_calibration is 'How often a side that resigned had not lost: measured on the share of games that was played out all the same.';
comment on column resignation_calibration.experiment_id is 'The experiment.';
comment on column resignation_calibration.resign_score is 'Hundredths of a seed behind.';
comment on column resignation_calibration.resign_plies is 'On so many own moves in a row.';
comment on column resignation_calibration.resign_playout_ppm is 'Share of games played out, in millionths.';
comment on column resignation_calibration.resigned is 'Counted games that ended by resignation.';
comment on column resignation_calibration.played_out is 'Counted games in which a side would have resigned and that were played out.';
comment on column resignation_calibration.not_lost is 'Those of them that this side won or drew: false resignations.';
comment on column resignation_calibration.won is 'Those of them that it won.';
comment on column resignation_calibration.false_rate is 'Share of false resignations among those played out; null = none was.';
comment on column resignation_calibration.false_lo is 'Lower end of its 95 % interval (Wilson).';
comment on column resignation_calibration.false_hi is 'Upper end.';

grant select on resignation_calibration to kroo_coordinator, kroo_trainer, kroo_reader;
grant execute on function game_resign_ply(bytea, integer, integer), game_note_resignation() to kroo_coordinator;
grant select on book, book_opening, book_opening_pairs, book_opening_score to kroo_coordinator, kroo_trainer, kroo_reader;
grant insert on book, book_opening to kroo_coordinator;
grant update (measured_pairs, measured_wl, measured_how) on book to kroo_coordinator;
